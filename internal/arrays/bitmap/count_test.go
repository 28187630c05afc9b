package bitmap_test

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/bitmap"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

func TestCountMatchesModel(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const most = 3000
		inputs := newArena(t, mgr, most)
		property.Check(t, func(r *rapid.T) {
			inputs.t = r
			n := rapid.IntRange(0, 2000).Draw(r, "n")
			offset := rapid.IntRange(0, 200).Draw(r, "bit offset")
			bits := rapid.SliceOfN(rapid.Byte(), (offset+n+7)/8, (offset+n+7)/8).Draw(r, "bits")
			from := inputs.at(rapid.IntRange(0, 40).Draw(r, "source begins"), len(bits))
			inputs.upload(from, bits)
			count, err := bitmap.Count(r.Context(), from, offset, n, "test")
			require.NoError(r, err)
			require.Equal(r, bytes.Count(expanded(bits, offset, n), []byte{1}), count)
		})
	})
}

// Every thread of a GPU iterates its loop more than once.
func TestCountManyBits(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		n := 1 << 16
		if dev.Kind() == device.CUDA {
			n = 1 << 26
		}
		bits := newArena(t, mgr, n).memory
		require.NoError(t, bits.Fill(nil, 0b1011_0110))
		count, err := bitmap.Count(t.Context(), bits, 4, 8*(n-1), "test")
		require.NoError(t, err)
		require.Equal(t, 5*(n-1), count)
	})
}

func TestCountRefusals(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		bits := newArena(t, mgr, 64).memory
		for _, each := range [][2]int{{-1, 4}, {0, -1}, {0, 513}, {512, 1}, {math.MaxInt, 1}} {
			_, err := bitmap.Count(t.Context(), bits, each[0], each[1], "test")
			require.ErrorIs(t, err, memory.ErrRange, "%v", each)
		}
		count, err := bitmap.Count(t.Context(), bits, 512, 0, "test")
		require.NoError(t, err)
		require.Zero(t, count)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if dev.Kind() == device.CUDA {
			_, err = bitmap.Count(ctx, bits, 0, 5, "test")
			require.ErrorIs(t, err, context.Canceled)
		}
	})
}
