package selection

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// These tests reach cases that need larger tables than tests can allocate.

func put[T memory.Element](t *testing.T, mgr *memory.Manager, values []T) memory.Slice[T] {
	t.Helper()
	s, err := memory.NewSlice[T](mgr, len(values), memory.AllocateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Release()) })
	require.NoError(t, s.Upload(t.Context(), nil, values))
	return s
}

func get[T memory.Element](t *testing.T, s memory.Slice[T]) []T {
	t.Helper()
	values := make([]T, s.Len())
	require.NoError(t, s.Download(t.Context(), nil, values))
	return values
}

func TestAddSumsOfManyBlocks(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := property.Random(t)
		for _, n := range []int{1, 2, 255, 2047, 2048, 2049, 5000} {
			want, ahead := make([]int64, n+1), int64(0)
			sums := make([]int64, n+1)
			for i := range n {
				sums[i], want[i] = random.Int64N(1<<40), ahead
				ahead += sums[i]
			}
			want[n] = ahead
			s := put(t, mgr, sums)
			call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr})
			require.NoError(t, err)
			require.NoError(t, launch(&call, rangesFile, "add_sums", 1, 1, s, uint64(n)))
			require.Equal(t, want, get(t, s))
		}
	})
}

// TestExpandRanges expands lists into indices of 64 bits too, which operators use only
// for a child of 2³² elements.
func TestExpandRanges(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const lists = 3000
		random := property.Random(t)
		offsets, begins := []int64{0}, []int64{}
		var want []int64
		for i := range lists {
			length := random.IntN(4) * random.IntN(3)
			if i%500 == 77 {
				length = 2000
			}
			begin := random.Int64N(1 << 20)
			offsets, begins = append(offsets, offsets[i]+int64(length)), append(begins, begin)
			for k := range length {
				want = append(want, begin+int64(k))
			}
		}
		for _, width := range []int{4, 8} {
			for _, o := range []order{listed32, listed64} {
				t.Run(fmt.Sprint(width, o.bits()), func(t *testing.T) {
					from, at := make([]byte, width*(lists+1)), make([]byte, width*lists)
					for i, offset := range offsets {
						putWord(from, width, uint64(i), offset)
					}
					for i, begin := range begins {
						putWord(at, width, uint64(i), begin)
					}
					call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr})
					require.NoError(t, err)
					g := newGatherer(t.Context(), &call)
					wide := 4
					if o == listed64 {
						wide = 8
					}
					out := put(t, mgr, make([]byte, wide*len(want)))
					r := ranges{offsets: put(t, mgr, from), begins: put(t, mgr, at), width: width, rows: lists}
					require.NoError(t, g.expandRanges(r, &source{order: o, indices: out, capacity: len(want)}))
					bytes := get(t, out)
					for i, index := range want {
						require.Equal(t, index, wordAt(bytes, wide, uint64(i)), "element %d", i)
					}
				})
			}
		}
	})
}
