package memory_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// resources are the kinds of memory that every test must pass on.
func resources(dev *device.Device) map[string]memory.Resource {
	return map[string]memory.Resource{
		"default": nil, "driver": memory.NewDriverResource(dev), "pinned": memory.NewPinnedResource(dev),
	}
}

func random(n int) []byte {
	values := make([]byte, n)
	source := rand.NewChaCha8([32]byte{1, byte(n), byte(n >> 8)})
	_, _ = source.Read(values)
	return values
}

func TestRoundTrip(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, resource := range resources(dev) {
			t.Run(name, func(t *testing.T) {
				mgr := devicetest.Manager(t, dev, memory.Options{
					Resource: resource, Staging: memory.StagingOptions{ChunkBytes: 512 << 10, Workers: 3},
				})
				for _, n := range []int{1, 7, 4096, 256<<10 + 1, 3<<20 + 5, 9 << 20} {
					slice, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{})
					require.NoError(t, err)
					want, got := random(n), make([]byte, n)
					require.NoError(t, slice.Upload(t.Context(), nil, want))
					require.NoError(t, slice.Download(t.Context(), nil, got))
					require.True(t, bytes.Equal(want, got), "%d bytes", n)
					require.NoError(t, slice.Release())
				}
			})
		}
	})
}

func TestPinnedSourcesGoStraight(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		allocator := memory.NewPinnedAllocator(dev, 0)
		defer func() { require.NoError(t, allocator.Close()) }()
		pinned := allocator.Allocate(1 << 20)
		copy(pinned, random(1<<20))
		ordinary := random(300_000)

		const gap = 100
		total := gap + len(ordinary) + gap + len(pinned) + gap
		slice, err := memory.NewSlice[uint8](mgr, total, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, slice.Fill(nil, 0xff))
		require.NoError(t, memory.Upload(t.Context(), nil, slice, []memory.Source{
			{Offset: gap, Data: ordinary},
			{Offset: uint64(2*gap + len(ordinary)), Data: pinned},
		}))
		want := make([]byte, total)
		copy(want[gap:], ordinary)
		copy(want[2*gap+len(ordinary):], pinned)
		got := allocator.Allocate(total)
		require.NoError(t, slice.Download(t.Context(), nil, got))
		require.True(t, bytes.Equal(want, got))
		require.NoError(t, slice.Release())
		allocator.Free(got)
		allocator.Free(pinned)
	})
}

// Any arrangement of pieces arrives as if it had been assembled on the host, and is
// downloaded to any destination.
func TestTransfersOfPieces(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Staging: memory.StagingOptions{ChunkBytes: 300 << 10, Workers: 2}})
		property.Check(t, func(t *rapid.T) {
			var want []byte
			var sources []memory.Source
			var extents [][2]int
			for range rapid.IntRange(0, 12).Draw(t, "pieces") {
				want = append(want, make([]byte, rapid.SampledFrom([]int{0, 1, 63, 256, 5000}).Draw(t, "gap"))...)
				data := random(rapid.SampledFrom([]int{0, 1, 3, 255, 4096, 70_000, 400_000}).Draw(t, "bytes"))
				source := memory.Source{Offset: uint64(len(want)), Data: data}
				if rapid.Bool().Draw(t, "computed") {
					source.Data, source.Bytes = nil, uint64(len(data))
					source.Fill = func(destination []byte, offset uint64) { copy(destination, data[offset:]) }
				}
				sources = append(sources, source)
				extents = append(extents, [2]int{len(want), len(want) + len(data)})
				want = append(want, data...)
			}
			want = append(want, make([]byte, rapid.IntRange(0, 100).Draw(t, "tail"))...)

			slice, err := memory.NewSlice[uint8](mgr, len(want), memory.AllocateOptions{})
			require.NoError(t, err)
			defer func() { require.NoError(t, slice.Release()) }()
			require.NoError(t, slice.Fill(nil, 0xa5))
			require.NoError(t, memory.Upload(context.Background(), nil, slice, sources))
			got := make([]byte, len(want))
			require.NoError(t, slice.Download(context.Background(), nil, got))
			require.True(t, bytes.Equal(want, got))

			var destinations []memory.Destination
			for _, extent := range extents {
				part, err := slice.Slice(extent[0], extent[1])
				require.NoError(t, err)
				destinations = append(destinations, memory.Destination{From: part, Data: make([]byte, part.Len())})
			}
			require.NoError(t, memory.Download(context.Background(), nil, destinations))
			for i, extent := range extents {
				require.True(t, bytes.Equal(want[extent[0]:extent[1]], destinations[i].Data))
			}
		})
	})
}

func TestTransfersOutOfRange(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		slice, err := memory.NewSlice[uint8](mgr, 100, memory.AllocateOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, slice.Release()) }()
		ten := make([]byte, 10)
		for name, sources := range map[string][]memory.Source{
			"beyond the end": {{Offset: 91, Data: ten}},
			"far beyond":     {{Offset: 1 << 63, Data: ten}},
			"overlapping":    {{Offset: 0, Data: ten}, {Offset: 9, Data: ten}},
			"descending":     {{Offset: 50, Data: ten}, {Offset: 0, Data: ten}},
		} {
			require.ErrorIs(t, memory.Upload(t.Context(), nil, slice, sources), memory.ErrRange, name)
		}
		require.ErrorIs(t, slice.Upload(t.Context(), nil, ten), memory.ErrRange)
		require.ErrorIs(t, slice.Download(t.Context(), nil, ten), memory.ErrRange)
		require.ErrorIs(t, memory.Download(t.Context(), nil, []memory.Destination{{From: slice, Data: ten}}), memory.ErrRange)
		_, err = slice.Slice(5, 101)
		require.ErrorIs(t, err, memory.ErrRange)
		_, err = slice.Slice(-1, 5)
		require.ErrorIs(t, err, memory.ErrRange)
		_, err = slice.Slice(6, 5)
		require.ErrorIs(t, err, memory.ErrRange)
		_, err = memory.View[int64](slice.Block(), 96, 1)
		require.ErrorIs(t, err, memory.ErrRange)
	})
}

func TestCancelledTransfer(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Staging: memory.StagingOptions{ChunkBytes: 256 << 10, Workers: 2}})
		slice, err := memory.NewSlice[uint8](mgr, 8<<20, memory.AllocateOptions{})
		require.NoError(t, err)
		reason := errors.New("the user went away")
		ctx, cancel := context.WithCancelCause(t.Context())
		half := memory.Source{Bytes: 8 << 20, Fill: func([]byte, uint64) { cancel(reason) }}
		require.ErrorIs(t, memory.Upload(ctx, nil, slice, []memory.Source{half}), reason)
		require.ErrorIs(t, slice.Download(ctx, nil, make([]byte, 8<<20)), reason)

		want, got := random(8<<20), make([]byte, 8<<20)
		require.NoError(t, slice.Upload(t.Context(), nil, want), "the manager goes on")
		require.NoError(t, slice.Download(t.Context(), nil, got))
		require.True(t, bytes.Equal(want, got))
		require.NoError(t, slice.Release())
	})
}

func testFill[T memory.Element](t *testing.T, mgr *memory.Manager, value T) {
	t.Helper()
	for _, n := range []int{1, 2, 3, 1000, 4097} {
		slice, err := memory.NewSlice[T](mgr, n+2, memory.AllocateOptions{})
		require.NoError(t, err)
		var zero T
		require.NoError(t, slice.Fill(nil, zero))
		middle, err := slice.Slice(1, n+1)
		require.NoError(t, err)
		require.NoError(t, middle.Fill(nil, value))
		got := make([]T, n+2)
		require.NoError(t, slice.Download(t.Context(), nil, got))
		assert.Equal(t, zero, got[0])
		assert.Equal(t, zero, got[n+1])
		assert.False(t, slices.ContainsFunc(got[1:n+1], func(each T) bool { return each != value }))
		require.NoError(t, slice.Release())
	}
}

func TestFill(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		testFill[uint8](t, mgr, 0xa7)
		testFill[int16](t, mgr, -2)
		testFill[float32](t, mgr, 1.5)
		testFill[float64](t, mgr, 1.1)
		testFill[int64](t, mgr, -1)
		testFill[complex128](t, mgr, complex(1.5, -2.25))
		testFill[[2]uint64](t, mgr, [2]uint64{1, 2})
		testFill[[32]byte](t, mgr, [32]byte{31: 9})
	})
}

func TestCopyFromAndReinterpret(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		source, err := memory.NewSlice[uint32](mgr, 1000, memory.AllocateOptions{})
		require.NoError(t, err)
		copied, err := memory.NewSlice[uint32](mgr, 1000, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, source.Fill(nil, 0x01020304))
		require.NoError(t, copied.CopyFrom(nil, source))
		require.ErrorIs(t, copied.CopyFrom(nil, memory.Slice[uint32]{}), memory.ErrRange)

		pairs, err := memory.Reinterpret[uint64](copied)
		require.NoError(t, err)
		got := make([]uint64, 500)
		require.NoError(t, pairs.Download(t.Context(), nil, got))
		for _, each := range got {
			require.Equal(t, uint64(0x0102030401020304), each)
		}
		assert.Equal(t, 4000, copied.AsBytes().Len())
		odd, err := copied.AsBytes().Slice(0, 3)
		require.NoError(t, err)
		_, err = memory.Reinterpret[uint64](odd)
		require.ErrorIs(t, err, memory.ErrRange)
		require.NoError(t, source.Release())
		require.NoError(t, copied.Release())
	})
}

// Memory that another stream still uses is not reused before that stream has
// completed its work.
func TestFreeIsOrderedAfterOtherStreams(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		side, err := dev.NewStream()
		require.NoError(t, err)
		defer func() { require.NoError(t, side.Close()) }()
		const n = 1 << 20
		keep, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{})
		require.NoError(t, err)
		want, got := bytes.Repeat([]byte{1}, n), make([]byte, n)
		for range 50 {
			scratch, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{})
			require.NoError(t, err)
			require.NoError(t, scratch.Fill(nil, 1))
			require.NoError(t, scratch.Block().OrderBefore(side))
			for range 4 {
				require.NoError(t, keep.CopyFrom(side, scratch))
			}
			require.NoError(t, scratch.Release())
			spoiler, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{})
			require.NoError(t, err)
			require.NoError(t, spoiler.Fill(nil, 2))
			require.NoError(t, keep.Download(t.Context(), side, got))
			require.True(t, bytes.Equal(want, got))
			require.NoError(t, spoiler.Release())
		}
		require.NoError(t, keep.Release())
	})
}

func TestReleaseAfterItsStreamWasClosed(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		for name, resource := range resources(dev) {
			t.Run(name, func(t *testing.T) {
				mgr := devicetest.Manager(t, dev, memory.Options{Resource: resource})
				own, err := dev.NewStream()
				require.NoError(t, err)
				side, err := dev.NewStream()
				require.NoError(t, err)
				slice, err := memory.NewSlice[uint8](mgr, 1<<20, memory.AllocateOptions{Stream: own})
				require.NoError(t, err)
				require.NoError(t, slice.Block().OrderBefore(side))
				require.NoError(t, slice.Fill(side, 3))
				require.NoError(t, own.Close())
				require.NoError(t, side.Close())
				require.ErrorIs(t, slice.Fill(nil, 4), device.ErrClosed)
				require.NoError(t, slice.Release())
			})
		}
	})
}

func TestHostView(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: memory.NewPinnedResource(dev)})
		slice, err := memory.NewSlice[int16](mgr, 3, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, slice.Fill(nil, 5))
		require.NoError(t, slice.Block().Synchronize(t.Context()))
		values, err := slice.Host()
		require.NoError(t, err)
		assert.Equal(t, []int16{5, 5, 5}, values)
		require.NoError(t, slice.Release())
		_, err = slice.Host()
		require.ErrorIs(t, err, memory.ErrReleased)
	})
}
