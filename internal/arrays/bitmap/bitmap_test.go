package bitmap_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/bitmap"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

type bytesOn = memory.Slice[uint8]

// expanded is the model of Expand: bit by bit.
func expanded(bits []byte, offset, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = bits[(offset+i)/8] >> ((offset + i) % 8) & 1
	}
	return out
}

// packed is the model of Pack.
func packed(source []byte) []byte {
	out := make([]byte, (len(source)+7)/8)
	for i, value := range source {
		if value != 0 {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}

// guard fills the memory around an output and must not change.
const guard = 0xee

// arena is memory in which inputs and outputs can begin at any byte.
type arena struct {
	t      require.TestingT
	memory bytesOn
}

func newArena(t *testing.T, mgr *memory.Manager, n int) arena {
	t.Helper()
	s, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Release()) })
	return arena{t, s}
}

func (a arena) at(i, n int) bytesOn {
	s, err := a.memory.Slice(i, i+n)
	require.NoError(a.t, err)
	return s
}

func (a arena) upload(to bytesOn, values []byte) {
	require.NoError(a.t, to.Upload(context.Background(), nil, values))
}

func (a arena) download() []byte {
	values := make([]byte, a.memory.Len())
	require.NoError(a.t, a.memory.Download(context.Background(), nil, values))
	return values
}

func TestExpandMatchesModel(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const most = 3000
		inputs, outputs := newArena(t, mgr, most), newArena(t, mgr, most)
		property.Check(t, func(r *rapid.T) {
			inputs.t, outputs.t = r, r
			n := rapid.IntRange(0, 2000).Draw(r, "n")
			offset := rapid.IntRange(0, 200).Draw(r, "bit offset")
			bits := rapid.SliceOfN(rapid.Byte(), (offset+n+7)/8, (offset+n+7)/8).Draw(r, "bits")
			from := inputs.at(rapid.IntRange(0, 40).Draw(r, "source begins"), len(bits))
			begin := rapid.IntRange(1, 40).Draw(r, "destination begins")
			inputs.upload(from, bits)
			require.NoError(r, outputs.memory.Fill(nil, guard))

			require.NoError(r, bitmap.Expand(nil, outputs.at(begin, n), from, offset, n))

			want := bytes.Repeat([]byte{guard}, most)
			copy(want[begin:], expanded(bits, offset, n))
			require.Equal(r, want, outputs.download())
		})
	})
}

func TestPackMatchesModel(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const most = 3000
		inputs, outputs := newArena(t, mgr, most), newArena(t, mgr, most)
		property.Check(t, func(r *rapid.T) {
			inputs.t, outputs.t = r, r
			// Half of the bytes are zero, the others random.
			source := rapid.SliceOfN(rapid.OneOf(rapid.Just(byte(0)), rapid.Byte()), 0, 2000).Draw(r, "source")
			from := inputs.at(rapid.SampledFrom([]int{0, 16, 1, 7, 24}).Draw(r, "source begins"), len(source))
			begin := rapid.SampledFrom([]int{4, 16, 1, 2, 27}).Draw(r, "destination begins")
			inputs.upload(from, source)
			require.NoError(r, outputs.memory.Fill(nil, guard))

			want := packed(source)
			require.NoError(r, bitmap.Pack(nil, outputs.at(begin, len(want)), from, len(source)))

			all := bytes.Repeat([]byte{guard}, most)
			copy(all[begin:], want)
			require.Equal(r, all, outputs.download())
		})
	})
}

// TestRoundTrip is long enough for every thread of a GPU to iterate its loop more
// than once.
func TestRoundTrip(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		n := 1 << 16
		if dev.Kind() == device.CUDA {
			n = 1 << 25
		}
		n += 13
		bits := make([]byte, (n+7)/8)
		for i := range bits {
			bits[i] = byte(uint32(i)*2654435761>>13 ^ uint32(i)>>5)
		}
		bits[len(bits)-1] &= 1<<(n%8) - 1
		from, to := newArena(t, mgr, len(bits)), newArena(t, mgr, len(bits))
		between := newArena(t, mgr, n)
		from.upload(from.memory, bits)

		stream, err := dev.NewStream()
		require.NoError(t, err)
		defer stream.Close()
		require.NoError(t, from.memory.Block().OrderBefore(stream))
		require.NoError(t, bitmap.Expand(stream, between.memory, from.memory, 0, n))
		require.NoError(t, bitmap.Pack(stream, to.memory, between.memory, n))
		require.NoError(t, stream.Synchronize(t.Context()))
		require.True(t, bytes.Equal(bits, to.download()))
	})
}

func TestUseIsRecorded(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		from, to := newArena(t, mgr, 64), newArena(t, mgr, 512)
		from.upload(from.memory, bytes.Repeat([]byte{0xa5}, 64))
		stream, err := dev.NewStream()
		require.NoError(t, err)
		defer stream.Close()
		require.NoError(t, to.memory.Block().OrderBefore(stream))
		require.NoError(t, bitmap.Expand(stream, to.memory, from.memory, 0, 512))
		// From here on only the blocks order the work.
		require.NoError(t, to.memory.Block().OrderBefore(mgr.Stream()))
		require.Equal(t, bytes.Repeat([]byte{1, 0, 1, 0, 0, 1, 0, 1}, 64), to.download())
	})
}

func TestRefusals(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		eight := newArena(t, mgr, 8).memory
		sixtyFour := newArena(t, mgr, 64).memory
		released, err := memory.NewSlice[uint8](mgr, 64, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, released.Release())
		readOnly, err := mgr.Adopt(memory.ForeignMemory{
			Pointer: eight.Pointer(), Bytes: 8, Kind: eight.Block().Kind(), ReadOnly: true, Ordered: true,
		})
		require.NoError(t, err)
		defer func() { require.NoError(t, readOnly.Release()) }()
		locked, err := memory.View[uint8](readOnly, 0, 8)
		require.NoError(t, err)

		for _, test := range []struct {
			name string
			err  error
			want error
			text string
		}{
			{"negative length", bitmap.Expand(nil, sixtyFour, eight, 0, -1), memory.ErrRange, "length -1 is negative"},
			{"negative offset", bitmap.Expand(nil, sixtyFour, eight, -1, 8), memory.ErrRange, "bits [-1, 7) of 8 bytes"},
			{"bits too few", bitmap.Expand(nil, sixtyFour, eight, 1, 64), memory.ErrRange, "bits [1, 65) of 8 bytes"},
			{"destination short", bitmap.Expand(nil, eight, sixtyFour, 0, 9), memory.ErrRange, "9 bytes do not fit in a destination of 8"},
			{"source short", bitmap.Pack(nil, sixtyFour, eight, 9), memory.ErrRange, "9 bytes of a source of 8"},
			{"read-only bitmap", bitmap.Pack(nil, locked, newArena(t, mgr, 65).memory, 65), memory.ErrReadOnly, "read-only"},
			{"bits do not fit", bitmap.Pack(nil, eight, newArena(t, mgr, 65).memory, 65), memory.ErrRange, "65 bits do not fit in a destination of 8 bytes"},
			{"negative pack", bitmap.Pack(nil, eight, sixtyFour, -5), memory.ErrRange, "length -5 is negative"},
			{"released source", bitmap.Pack(nil, eight, released, 8), memory.ErrReleased, "bitmap: pack"},
			{"released destination", bitmap.Expand(nil, released, eight, 0, 8), memory.ErrReleased, "bitmap: expand"},
			{"no memory", bitmap.Expand(nil, bytesOn{}, bytesOn{}, 0, 1), memory.ErrReleased, "bitmap: expand"},
			{"read-only destination", bitmap.Expand(nil, locked, eight, 0, 8), memory.ErrReadOnly, "bitmap: expand: the destination"},
		} {
			t.Run(test.name, func(t *testing.T) {
				require.ErrorIs(t, test.err, test.want)
				assert.ErrorContains(t, test.err, test.text)
			})
		}
	})
}

func TestNothingToDo(t *testing.T) {
	require.NoError(t, bitmap.Expand(nil, bytesOn{}, bytesOn{}, 0, 0))
	require.NoError(t, bitmap.Pack(nil, bytesOn{}, bytesOn{}, 0))
}

func TestClosedStream(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		a, b := newArena(t, mgr, 8).memory, newArena(t, mgr, 8).memory
		stream, err := dev.NewStream()
		require.NoError(t, err)
		require.NoError(t, stream.Close())
		require.ErrorIs(t, bitmap.Pack(stream, a, b, 8), device.ErrClosed)
	})
}

func Example() {
	ctx := context.Background()
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()
	bits, _ := memory.NewSlice[uint8](mgr, 1, memory.AllocateOptions{})
	defer bits.Release()
	flags, _ := memory.NewSlice[uint8](mgr, 5, memory.AllocateOptions{})
	defer flags.Release()

	fmt.Println(bits.Upload(ctx, nil, []byte{0b1011_0000}))
	fmt.Println(bitmap.Expand(nil, flags, bits, 3, 5))
	values := make([]byte, 5)
	fmt.Println(flags.Download(ctx, nil, values), values)
	// Output:
	// <nil>
	// <nil>
	// <nil> [0 1 1 0 1]
}
