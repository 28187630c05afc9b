package selection_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// sizes returns sizes around words, blocks and tiles, and on a GPU a large one.
func sizes(dev *device.Device) []int {
	most := devicetest.Sizes(dev, 0, 1, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 6143, 6144, 6145)
	if dev.Kind() == device.CUDA && !devicetest.Emulated(dev) {
		most = append(most, 10_000_000)
	}
	return most
}

// strange makes strings of most lengths: many empty ones, nulls, and a few that are
// longer than a tile of the kernel that copies them.
func strange(r *rand.Rand, n int) arrow.Array {
	builder := array.NewLargeStringBuilder(arrowmemory.DefaultAllocator)
	defer builder.Release()
	long := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz", 600)
	for i := range n {
		switch draw := r.IntN(1000); {
		case draw < 100:
			builder.AppendNull()
		case draw < 500 || i%4096 > 3000:
			builder.Append("")
		case draw < 502 && n < 100_000:
			begin := r.IntN(30)
			builder.Append(long[begin : begin+r.IntN(20_000)])
		default:
			begin := r.IntN(100)
			builder.Append(long[begin : begin+r.IntN(40)])
		}
	}
	return builder.NewArray()
}

// randomIndices returns n random indices below of as int32.
func randomIndices(r *rand.Rand, n, of int) *array.Int32 {
	builder := array.NewInt32Builder(arrowmemory.DefaultAllocator)
	defer builder.Release()
	builder.Reserve(n)
	for range n {
		builder.UnsafeAppend(int32(r.IntN(of)))
	}
	return builder.NewInt32Array()
}

func TestTakeSizes(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for _, n := range sizes(dev) {
			mgr := devicetest.Manager(t, dev, memory.Options{})
			r := rand.New(rand.NewPCG(uint64(n), 1))
			const of = 500
			indices := randomIndices(r, n, of)
			defer indices.Release()
			rows := upload(t, mgr, indices, 0, 0)

			texts := strange(r, of).(*array.LargeString)
			defer texts.Release()
			if n > 100_000 {
				texts = strange(r, 200_000).(*array.LargeString) // without long ones
				defer texts.Release()
			}
			taken, err := selection.TakeColumn(t.Context(), upload(t, mgr, texts, 0, 0), rows)
			require.NoError(t, err)
			got := download(t, taken).(*array.LargeString)
			require.Equal(t, n, got.Len())
			for i := range n {
				from := int(indices.Value(i))
				if got.IsNull(i) != texts.IsNull(from) || got.IsValid(i) && got.Value(i) != texts.Value(from) {
					t.Fatalf("%d rows: row %d of %d bytes is not row %d of %d", n, i, len(got.Value(i)), from, len(texts.Value(from)))
				}
			}

			g := arraytest.NewGenerator(uint64(n))
			for _, of := range []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean, arrow.ListOf(arrow.PrimitiveTypes.Int16)} {
				takeAndReverse(t, mgr, g.Array(of, 500), indices, rows)
			}
		}
	})
}

// takeAndReverse takes rows and reverses them twice, and checks some of them.
func takeAndReverse(t *testing.T, mgr *memory.Manager, values arrow.Array, indices *array.Int32, rows *column.Column) {
	defer values.Release()
	options := kernels.Options{Manager: mgr} // for results without rows
	taken, err := selection.TakeColumn(t.Context(), upload(t, mgr, values, 0, 0), rows)
	require.NoError(t, err)
	back, err := selection.ReverseColumn(t.Context(), taken, options)
	require.NoError(t, err)
	put, err := selection.ConcatColumns(t.Context(), []*column.Column{taken, back}, options)
	require.NoError(t, err)
	require.NoError(t, taken.Release())
	require.NoError(t, back.Release())
	got, n := download(t, put), indices.Len()
	require.Equal(t, 2*n, got.Len())
	for i := 0; i < n; i += 1 + n/10_000 {
		requireRow(t, got, i, values, int(indices.Value(i)))
		requireRow(t, got, 2*n-1-i, values, int(indices.Value(i)))
	}
}

// TestTakeAsArrow compares the result with arrow-go's function for the types that
// arrow-go supports.
func TestTakeAsArrow(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		compared := 0
		for seed, of := range arraytest.FlatTypes() {
			g := arraytest.NewGenerator(uint64(seed))
			g.Sliced = true
			values := g.Array(of, 100)
			defer values.Release()
			indices := indicesOf(t, arrow.PrimitiveTypes.Int32, randomRows(g.Rand, 70, 100, true))
			want, err := compute.TakeArray(t.Context(), values, indices)
			if err != nil || of.ID() == arrow.FIXED_SIZE_BINARY && of.(*arrow.FixedSizeBinaryType).ByteWidth == 0 {
				continue
			}
			defer want.Release()
			compared++
			taken, err := selection.TakeColumn(t.Context(), upload(t, mgr, values, 0, 0), upload(t, mgr, indices, 0, 0))
			require.NoError(t, err)
			got := download(t, taken)
			require.True(t, array.Equal(want, got), "%v: %v instead of %v", of, got, want)
		}
		require.Greater(t, compared, 20)
	})
}
