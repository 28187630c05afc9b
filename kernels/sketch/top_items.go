package sketch

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op/hostrows"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// MostTopItems is the greatest number of items of [TopItems].
const MostTopItems = 1_000_000

// TopItems is the list of the positions, from 0, of the n most frequent values of each list, the most frequent one first, equally
// frequent ones in the order of the list: as a sketch of frequent items of 4096 places finds them, or of 8 n.
func TopItems(list expr.Expr, n int) expr.Expr { return expr.Apply(topItems{N: n}, list) }

type topItems struct{ N int }

// Name implements expr.Operator.
func (topItems) Name() string { return "top_items" }

// Result implements expr.Operator.
func (o topItems) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if o.N < 1 || o.N > MostTopItems {
		return nil, fmt.Errorf("n is %d, expected 1 to %d: %w", o.N, MostTopItems, expr.ErrLiteral)
	}
	elements, err := elementsOf(operands[0])
	if err == nil && !isHashed(elements) {
		err = fmt.Errorf("values of %v, expected numbers, bools, times or strings: %w", elements, expr.ErrType)
	}
	return positionsType, err
}

var positionsType = arrow.ListOf(arrow.PrimitiveTypes.Int64)

// Run implements expr.Operator.
func (o topItems) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	return hostrows.Run(ctx, operands, positionsType, options, func(_ context.Context, operands []arrow.Array) (hostrows.Append, error) {
		list := operands[0].(array.ListLike)
		bytes := hashedBytes(list.ListValues())
		return func(row int, to array.Builder) {
			positions := to.(*array.ListBuilder)
			positions.Append(true)
			positions.ValueBuilder().(*array.Int64Builder).AppendValues(o.positions(list, row, bytes), nil)
		}, nil
	})
}

// positions returns the places of the items of a row in its list.
func (o topItems) positions(list array.ListLike, row int, bytes func(i int) []byte) []int64 {
	const least, perItem = 4096, 8
	f := newFrequent[string](lgItemsOf(max(least, perItem*o.N)))
	eachValid(list, row, func(i int) { f.add(string(bytes(i)), 1) })
	first := make(map[string]int64, len(f.counts))
	begin, _ := list.ValueOffsets(row)
	eachValid(list, row, func(i int) {
		if item := bytes(i); f.counts[string(item)] > 0 && len(first) < len(f.counts) {
			if _, ok := first[string(item)]; !ok {
				first[string(item)] = int64(i) - begin
			}
		}
	})
	items := f.items()
	slices.SortFunc(items, func(a, b item[string]) int {
		return cmp.Or(cmp.Compare(b.lower, a.lower), cmp.Compare(first[a.value], first[b.value]))
	})
	places := make([]int64, min(o.N, len(items)))
	for i := range places {
		places[i] = first[items[i].value]
	}
	return places
}
