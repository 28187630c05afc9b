package selection_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

func TestChooseOfEveryType(t *testing.T) {
	eachType(t, rounds(4, 8), chooseOne)
}

func chooseOne(t *testing.T, mgr *memory.Manager, dataType arrow.DataType, seed uint64) {
	g := arraytest.NewGenerator(seed)
	n := []int{0, 1, 33, 300}[seed%4]
	make := func(of arrow.DataType, nulls arraytest.Nulls) (arrow.Array, *column.Column) {
		g.Nulls, g.Sliced = nulls, seed%3 == 0
		return slice(t, mgr, g, of, n)
	}
	seenMask, mask := make(arrow.FixedWidthTypes.Boolean, arraytest.Nulls(seed/4%2))
	seenA, a := make(dataType, arraytest.Nulls(g.IntN(3)))
	seenB, b := make(dataType, arraytest.Nulls(g.IntN(3)))

	made, err := selection.Choose(t.Context(), mask, a, b)

	if isDense(dataType) && (seenMask.NullN() > 0 || err != nil) {
		require.NotZero(t, mask.NullCount(), "or it is unknown whether there are any")
		require.ErrorIs(t, err, device.ErrNotSupported)
		return
	}
	require.NoError(t, err)
	requireChosen(t, download(t, made), seenMask, seenA, seenB, n)
}

func TestChooseRefusals(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(1)
		make := func(of arrow.DataType, n int) *column.Column {
			values := g.Array(of, n)
			defer values.Release()
			return upload(t, mgr, values, 0, 0)
		}
		mask, number, text := make(arrow.FixedWidthTypes.Boolean, 5), make(arrow.PrimitiveTypes.Int32, 5), make(arrow.BinaryTypes.String, 5)
		_, err := selection.Choose(t.Context(), number, number, number)
		require.ErrorIs(t, err, column.ErrInvalid)
		_, err = selection.Choose(t.Context(), mask, number, text)
		require.ErrorIs(t, err, column.ErrInvalid)
		_, err = selection.Choose(t.Context(), mask, number, make(arrow.PrimitiveTypes.Int32, 6))
		require.ErrorIs(t, err, memory.ErrRange)
		_, err = selection.Choose(t.Context(), mask, number, nil)
		require.ErrorIs(t, err, memory.ErrReleased)
	})
}
