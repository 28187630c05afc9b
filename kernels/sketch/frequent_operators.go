package sketch

import (
	"cmp"
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Frequent is the sketch of frequent items, of a table of size places, rounded up to a power of two, of the values of each list:
// DataSketches' ItemsSketch of strings, or its LongsSketch of integers, bools and times. Nulls are left out. The list is null for
// a null list.
func Frequent(list expr.Expr, size int) expr.Expr { return expr.Apply(frequentOf{Size: size}, list) }

// MergeFrequentTexts is the sketch of all values of the sketches of strings of each list. It is null if a value is no such sketch.
func MergeFrequentTexts(list expr.Expr, form Merged) expr.Expr {
	return expr.Apply(mergeFrequent[string, texts]{form}, list)
}

// MergeFrequentLongs is [MergeFrequentTexts] of sketches of integers.
func MergeFrequentLongs(list expr.Expr, form Merged) expr.Expr {
	return expr.Apply(mergeFrequent[int64, longs]{form}, list)
}

// FrequentTexts is the list of the items of a sketch of strings, the most frequent one first, with its number: an estimate, which is
// too great or right, and bounds. It is null if the value is no such sketch.
func FrequentTexts(sketch expr.Expr) expr.Expr {
	return expr.Apply(itemsOf[string, texts]{}, sketch)
}

// FrequentLongs is [FrequentTexts] of a sketch of integers.
func FrequentLongs(sketch expr.Expr) expr.Expr {
	return expr.Apply(itemsOf[int64, longs]{}, sketch)
}

type (
	frequentOf                               struct{ Size int }
	mergeFrequent[T cmp.Ordered, C codec[T]] struct{ Form Merged }
	itemsOf[T cmp.Ordered, C codec[T]]       struct{}
)

// Name implements expr.Operator.
func (frequentOf) Name() string { return "frequent_items_sketch" }

// Name implements expr.Operator.
func (mergeFrequent[T, C]) Name() string { return nameOf[T, C]("frequent", "merge") }

// Name implements expr.Operator.
func (itemsOf[T, C]) Name() string { return nameOf[T, C]("frequent", "") }

// Result implements expr.Operator.
func (o frequentOf) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if o.Size < LeastItems || o.Size > MostItems {
		return nil, fmt.Errorf("max_size is %d, expected %d to %d: %w", o.Size, LeastItems, MostItems, expr.ErrLiteral)
	}
	elements, err := elementsOf(operands[0])
	if err == nil && !isText(elements) && !isLong(elements) {
		err = fmt.Errorf("values of %v, expected integers, bools, times or strings: %w", render.TypeName(elements), expr.ErrType)
	}
	return arrow.BinaryTypes.Binary, err
}

// Result implements expr.Operator.
func (mergeFrequent[T, C]) Result(operands []arrow.DataType) (arrow.DataType, error) {
	return mergedType(operands)
}

// Result implements expr.Operator.
func (o itemsOf[T, C]) Result(operands []arrow.DataType) (arrow.DataType, error) {
	return o.result(), requireSketch(operands[0])
}

func (itemsOf[T, C]) result() arrow.DataType {
	var c C
	number := arrow.PrimitiveTypes.Int64
	return arrow.ListOf(arrow.StructOf(arrow.Field{Name: "item", Type: c.dataType(), Nullable: true}, arrow.Field{Name: "estimate", Type: number, Nullable: true},
		arrow.Field{Name: "lower", Type: number, Nullable: true}, arrow.Field{Name: "upper", Type: number, Nullable: true}))
}

// Run implements expr.Operator.
func (o frequentOf) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	if elements, err := elementsOf(operands[0].Type()); err == nil && isText(elements) {
		return sketchItems[string, texts](ctx, operands, o.Size, options)
	}
	return sketchItems[int64, longs](ctx, operands, o.Size, options)
}

func sketchItems[T cmp.Ordered, C codec[T]](ctx context.Context, operands []*column.Column, size int, options kernels.Options) (*column.Column, error) {
	var c C
	add := func(values arrow.Array) func(f *frequent[T], i int) {
		item := c.items(values)
		return func(f *frequent[T], i int) { f.add(item(i), 1) }
	}
	empty := func() *frequent[T] { return newFrequent[T](lgItemsOf(size)) }
	return sketching[*frequent[T]]{empty, add, func(f *frequent[T]) []byte { return f.bytes(c) }}.run(ctx, operands, options)
}

// Run implements expr.Operator.
func (o mergeFrequent[T, C]) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	var c C
	return merging[*frequent[T]]{
		form:  o.Form,
		parse: func(b []byte) (*frequent[T], error) { return parseFrequent(b, c) },
		size:  func(f *frequent[T]) int { return f.lgItems },
		merge: (*frequent[T]).merge,
		bytes: func(f *frequent[T]) []byte { return f.bytes(c) },
	}.run(ctx, operands, options)
}

// Run implements expr.Operator.
func (o itemsOf[T, C]) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	var c C
	parse := func(b []byte) (*frequent[T], error) { return parseFrequent(b, c) }
	return reading[*frequent[T]]{o.result(), parse, func(f *frequent[T], to array.Builder) {
		list := to.(*array.ListBuilder)
		list.Append(true)
		rows := list.ValueBuilder().(*array.StructBuilder)
		for _, item := range f.items() {
			rows.Append(true)
			c.append(rows.FieldBuilder(0), item.value)
			for field, number := range []int64{item.upper, item.lower, item.upper} {
				rows.FieldBuilder(1 + field).(*array.Int64Builder).Append(number)
			}
		}
	}}.run(ctx, operands, options)
}
