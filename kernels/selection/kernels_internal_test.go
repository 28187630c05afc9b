package selection

import (
	"fmt"
	"math/rand/v2"
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

// TestCopyRows copies strings of several shapes by rows: short ones, ones too long for a thread,
// tiles too long for shared memory, and data at any address, before and behind which nothing is read.
func TestCopyRows(t *testing.T) {
	const rows = 5000
	lengths := map[string]func(r *rand.Rand, row int) int{
		"short":      func(r *rand.Rand, _ int) int { return r.IntN(12) },
		"empty":      func(*rand.Rand, int) int { return 0 },
		"mostly":     func(r *rand.Rand, row int) int { return r.IntN(3) / 2 * r.IntN(40) },
		"one long":   func(r *rand.Rand, row int) int { return r.IntN(4) + (row / 1300 % 2 * (row % 1300 / 1299) * 700) },
		"long tiles": func(r *rand.Rand, row int) int { return r.IntN(8) + row/1024%2*r.IntN(150) },
		"alone":      func(_ *rand.Rand, row int) int { return row / 3333 * (row % 3333 / 1666) % 2 * 20 },
	}
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := property.Random(t)
		for name, length := range lengths {
			for _, width := range []int{4, 8} {
				t.Run(fmt.Sprint(name, width), func(t *testing.T) {
					ahead := random.IntN(16)
					data := make([]byte, ahead+1000+random.IntN(2000))
					for i := range data {
						data[i] = byte(random.Uint32())
					}
					offsets, begins, want := make([]byte, width*(rows+1)), make([]byte, width*rows), []byte{}
					for row := range rows {
						n := length(random, row)
						begin := random.IntN(len(data) - ahead - n + 1)
						if row%7 == 0 {
							begin = row % 2 * (len(data) - ahead - n) // the first or the last bytes
						}
						putWord(begins, width, uint64(row), int64(begin))
						want = append(want, data[ahead+begin:ahead+begin+n]...)
						putWord(offsets, width, uint64(row+1), int64(len(want)))
					}
					call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr})
					require.NoError(t, err)
					bytes, err := put(t, mgr, data).Slice(ahead, len(data))
					require.NoError(t, err)
					r := ranges{offsets: put(t, mgr, offsets), begins: put(t, mgr, begins), width: width, rows: rows}
					for _, room := range []int{len(want), len(want) / 2} { // the second cuts strings off
						out := put(t, mgr, make([]byte, len(want)))
						require.NoError(t, r.copyRows(&call, out, bytes, room))
						require.Equal(t, append(want[:room:room], make([]byte, len(want)-room)...), get(t, out), "%d of %d bytes", room, len(want))
					}
				})
			}
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
