package selection_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// eachTable calls f with tables of one sliced column of every type. The host or only
// the device knows the count.
func eachTable(t *testing.T, f func(t *testing.T, options kernels.Options, table *buffer.Buffer, rows int, seen arrow.Array)) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for i, dataType := range arraytest.AllTypes() {
			t.Run(fmt.Sprint(dataType), func(t *testing.T) {
				mgr := devicetest.Manager(t, dev, memory.Options{})
				options := kernels.Options{Manager: mgr}
				for round, rows := range []int{33, 0, 40, 1}[:rounds(2, 4)] {
					g := arraytest.NewGenerator(uint64(10*i + round))
					g.Sliced = round%2 == 1
					ahead := g.IntN(10)
					values := g.Array(dataType, ahead+40)
					defer values.Release()
					seen := array.NewSlice(values, int64(ahead), int64(ahead+40))
					defer seen.Release()
					f(t, options, tableOf(t, mgr, int64(rows), true, upload(t, mgr, values, ahead, 0)), rows, seen)
					f(t, options, tableOf(t, mgr, int64(rows), false, upload(t, mgr, values, ahead, 40-rows)), rows, seen)
				}
			})
		}
	})
}

func TestReverse(t *testing.T) {
	eachTable(t, func(t *testing.T, options kernels.Options, table *buffer.Buffer, rows int, seen arrow.Array) {
		made, err := selection.Reverse(t.Context(), table, options)
		require.NoError(t, err)
		want := upTo(rows)
		slices.Reverse(want)
		requireTable(t, made, want, seen)

		c, err := selection.ReverseColumn(t.Context(), table.Column(0), options)
		require.NoError(t, err)
		requireRows(t, download(t, c), seen, want)
	})
}

func TestHeadAndTail(t *testing.T) {
	eachTable(t, func(t *testing.T, options kernels.Options, table *buffer.Buffer, rows int, seen arrow.Array) {
		for _, n := range []int{5, 0, 100, 1, 33}[:rounds(3, 5)] {
			made, err := selection.Head(t.Context(), table, int64(n))
			require.NoError(t, err)
			requireTable(t, made, upTo(min(n, rows)), seen)

			made, err = selection.Tail(t.Context(), table, int64(n))
			require.NoError(t, err)
			requireTable(t, made, upTo(rows)[max(rows-n, 0):], seen)
		}
		_, err := selection.Head(t.Context(), table, -1)
		require.ErrorIs(t, err, memory.ErrRange)
		_, err = selection.Tail(t.Context(), table, -1)
		require.ErrorIs(t, err, memory.ErrRange)
	})
}
