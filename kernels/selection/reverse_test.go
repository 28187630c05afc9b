package selection_test

import (
	"context"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/optest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// TestReverseColumn runs the test of all operators of one column. TestReverse has types
// of other layouts.
func TestReverseColumn(t *testing.T) {
	optest.Run(t, optest.Spec{
		Name: "selection: reverse", Lengths: []int{4097, 2047}, Pipeline: "reverse",
		Types: []arrow.DataType{
			arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint8,
			arrow.FixedWidthTypes.Boolean, &arrow.Decimal128Type{Precision: 20}, &arrow.FixedSizeBinaryType{ByteWidth: 5},
		},
		Run: func(ctx context.Context, c *column.Column, o kernels.Options) (*column.Column, error) {
			return selection.ReverseColumn(ctx, c, o)
		},
	}, func(in arrow.Array) arrow.Array {
		rows := make([][]byte, in.Len())
		for row := range rows {
			rows[row] = optest.Bytes(in, row)
		}
		slices.Reverse(rows)
		return optest.Fixed(in.DataType(), rows)
	})
}
