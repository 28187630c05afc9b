package selection_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// TestFilterProperty filters random tables of several columns, sliced anywhere, by
// random masks, with the row count on the device or not.
func TestFilterProperty(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		types := arraytest.FlatTypes()
		most := 40_000
		if devicetest.Emulated(dev) {
			most = 9_000
		}
		property.Check(t, func(rt *rapid.T) {
			n := rapid.OneOf(rapid.IntRange(1, 70), rapid.IntRange(1, 2000), rapid.IntRange(1, most)).Draw(rt, "n")
			seed := rapid.Uint64().Draw(rt, "seed")
			generator := arraytest.NewGenerator(seed)
			generator.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull}).Draw(rt, "nulls")
			ahead := rapid.IntRange(0, 70).Draw(rt, "ahead")
			var columns []*column.Column
			var from []arrow.Array
			for range rapid.IntRange(1, 4).Draw(rt, "columns") {
				whole := generator.Array(rapid.SampledFrom(types).Draw(rt, "type"), ahead+n+3)
				defer whole.Release()
				columns = append(columns, upload(t, mgr, whole, ahead, 3))
				part := array.NewSlice(whole, int64(ahead), int64(ahead+n))
				defer part.Release()
				from = append(from, part)
			}
			mask, kept := maskOf(rand.New(rand.NewPCG(seed, 1)), n, rapid.Float64Range(0, 1).Draw(rt, "keep"), rapid.SampledFrom([]float64{0, 0.3}).Draw(rt, "mask nulls"))
			defer mask.Release()
			counted, count := rapid.Bool().Draw(rt, "counted"), n
			if counted {
				count = rapid.IntRange(0, n).Draw(rt, "rows")
			}
			var rows []int
			for _, row := range kept {
				if row < count {
					rows = append(rows, row)
				}
			}
			made, err := selection.FilterMask(t.Context(), tableOf(t, mgr, int64(count), counted, columns...),
				uploadMask(t, mgr, mask, rapid.IntRange(0, 70).Draw(rt, "mask ahead")))
			require.NoError(rt, err)
			record := records(t, made)
			for i := range from {
				requireRows(rt, record.Column(i), from[i], rows)
			}
		})
	})
}
