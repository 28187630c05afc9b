package custom

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/rows"
)

// cell is a row of one column.
type cell[T any] struct{ Value T }

// Argument is an argument of a function of slices.
type Argument struct {
	dataType arrow.DataType
	// isPointer is set if the argument can be null.
	isPointer bool
	// read returns the values of some rows as a slice, of all rows if the list is nil.
	read    func(values arrow.Array, kept []int) (any, error)
	invalid error
}

// ArgumentOf is an argument of a Go type. A type without a column is reported when the function is bound.
func ArgumentOf[T any]() Argument {
	t, isPointer, err := typeOf[T]()
	return Argument{t, isPointer, read[T], err}
}

// read returns the values of some rows, which are not null unless T is a pointer, or of all rows.
func read[T any](values arrow.Array, kept []int) (any, error) {
	if kept == nil {
		return rows.Append(make([]T, 0, values.Len()), values)
	}
	list := make([]T, 0, len(kept))
	for run := range runs(kept) {
		part := array.NewSlice(values, int64(run[0]), int64(run[0]+len(run)))
		var err error
		list, err = rows.Append(list, part)
		part.Release()
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// runs divides ascending numbers into those that follow each other.
func runs(list []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for len(list) > 0 {
			n := 1
			for n < len(list) && list[n] == list[n-1]+1 {
				n++
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

// typeOf returns the type of a column of a Go type, and whether it can be null.
func typeOf[T any]() (t arrow.DataType, isPointer bool, err error) {
	schema, err := rows.Schema[cell[T]]()
	if err != nil {
		return nil, false, err
	}
	return schema.Field(0).Type, schema.Field(0).Nullable && reflect.TypeFor[T]().Kind() == reflect.Pointer, nil
}

// OnSlices makes a function of slices of Go values. f gets a slice for each argument, and writes the results. Rows
// with a null argument that is no pointer are left out, and their results are null.
func OnSlices[R any](name string, pure bool, arguments []Argument, f func(ctx context.Context, arguments []any, results []R) error) *Function {
	s := Signature{Pure: pure}
	result, _, invalid := typeOf[R]()
	s.Result = result
	for _, a := range arguments {
		s.Arguments = append(s.Arguments, a.dataType)
		invalid = errors.Join(invalid, a.invalid)
	}
	if f == nil {
		invalid = errors.Join(invalid, fmt.Errorf("the Go function is nil: %w", device.ErrInvalidValue))
	}
	g := sliceFunction[R]{arguments, result, f}
	return newFunction(name, s, hostBody{g.run}, invalid)
}

type sliceFunction[R any] struct {
	arguments []Argument
	result    arrow.DataType
	f         func(ctx context.Context, arguments []any, results []R) error
}

func (g *sliceFunction[R]) run(ctx context.Context, values []arrow.Array) (arrow.Array, error) {
	length := values[0].Len()
	kept := g.kept(values, length)
	slices := make([]any, len(values))
	for i, v := range values {
		var err error
		if slices[i], err = g.arguments[i].read(v, kept); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	called := length
	if kept != nil {
		called = len(kept)
	}
	results := make([]R, called)
	if called > 0 {
		if err := g.f(ctx, slices, results); err != nil {
			return nil, err
		}
	}
	return g.array(results, kept, length)
}

// kept returns the rows without nulls in arguments that are no pointers, or nil for all rows.
func (g *sliceFunction[R]) kept(values []arrow.Array, length int) []int {
	var strict []arrow.Array
	for i, v := range values {
		if !g.arguments[i].isPointer && v.NullN() > 0 {
			strict = append(strict, v)
		}
	}
	if strict == nil {
		return nil
	}
	kept := make([]int, 0, length)
	for row := range length {
		valid := true
		for _, v := range strict {
			valid = valid && v.IsValid(row)
		}
		if valid {
			kept = append(kept, row)
		}
	}
	return kept
}

// array returns the results of the kept rows, with nulls in the others.
func (g *sliceFunction[R]) array(results []R, kept []int, length int) (arrow.Array, error) {
	if len(results) == 0 && length > 0 {
		return array.MakeArrayOfNull(arrowmemory.DefaultAllocator, g.result, length), nil
	}
	isPointer := reflect.TypeFor[R]().Kind() == reflect.Pointer
	cells := make([]cell[R], length)
	if kept != nil && len(results) > 0 && !isPointer {
		for i := range cells { // a row that is left out has a valid value below its null
			cells[i].Value = results[0]
		}
	}
	for i, r := range results {
		row := i
		if kept != nil {
			row = kept[i]
		}
		cells[row].Value = r
	}
	record, err := rows.Record(arrowmemory.DefaultAllocator, cells)
	if err != nil {
		return nil, fmt.Errorf("the results: %w", err)
	}
	defer record.Release()
	column := record.Column(0)
	if kept == nil || isPointer {
		column.Retain()
		return column, nil
	}
	bits := make([]byte, bitutil.BytesForBits(int64(length)))
	valid := 0
	for _, row := range kept {
		if column.IsValid(row) { // a sql.Null may be null
			bitutil.SetBit(bits, row)
			valid++
		}
	}
	return withValidity(column, arrowmemory.NewBufferBytes(bits), length-valid), nil
}

// withValidity returns an array with another validity bitmap.
func withValidity(values arrow.Array, bits *arrowmemory.Buffer, nulls int) arrow.Array {
	data := values.Data()
	buffers := append([]*arrowmemory.Buffer{bits}, data.Buffers()[1:]...)
	changed := array.NewData(data.DataType(), data.Len(), buffers, data.Children(), nulls, data.Offset())
	defer changed.Release()
	return array.MakeFromData(changed)
}
