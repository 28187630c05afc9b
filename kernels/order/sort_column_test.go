package order_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/optest"
	"github.com/gpuframe/gpuframe/internal/testing/ordertest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// TestSortColumnOfNumbers tests the columns that are sorted without row numbers.
func TestSortColumnOfNumbers(t *testing.T) {
	for name, d := range map[string]ordertest.Direction{"ascending": {}, "descending, nulls first": {Descending: true, NullsFirst: true}} {
		t.Run(name, func(t *testing.T) {
			optest.Run(t, optest.Spec{
				Name: "order: sort column", Lengths: []int{9000}, Pipeline: "sort column", Refused: ordertest.Unordered(),
				Types: []arrow.DataType{
					arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint64, arrow.FixedWidthTypes.Float16,
					arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean, arrow.FixedWidthTypes.Timestamp_us,
				},
				Run: func(ctx context.Context, c *column.Column, o kernels.Options) (*column.Column, error) {
					return order.SortColumn(ctx, c, order.ColumnOptions{Options: o, Descending: d.Descending, NullsFirst: d.NullsFirst})
				},
			}, func(in arrow.Array) arrow.Array {
				var rows [][]byte
				for _, row := range ordertest.Order(in.Len(), []arrow.Array{in}, []ordertest.Direction{d}) {
					rows = append(rows, optest.Bytes(in, row))
				}
				return optest.Fixed(in.DataType(), rows)
			})
		})
	}
}
