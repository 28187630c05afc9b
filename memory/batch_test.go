package memory_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// scalars allocates n slices of one number each.
func scalars(t testing.TB, mgr *memory.Manager, n int) []memory.Slice[int64] {
	t.Helper()
	made := make([]memory.Slice[int64], n)
	for i := range made {
		var err error
		made[i], err = memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, made[i].Release()) })
	}
	return made
}

func TestBatchOfManyBlocks(t *testing.T) {
	eachTransferDevice(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		blocks := scalars(t, mgr, 1000)
		var batch memory.Batch
		got := make([]int64, len(blocks))
		for i := range blocks {
			require.NoError(t, memory.AddDownload(&batch, blocks[i], got[i:i+1]))
			require.NoError(t, memory.AddUpload(&batch, blocks[i], []int64{int64(i) * 7}))
		}
		require.Equal(t, 2000, batch.Len())
		require.NoError(t, batch.Run(t.Context(), nil), "downloads see the batch's own uploads")
		for i := range got {
			require.EqualValues(t, i*7, got[i])
		}
		clear(got)
		require.NoError(t, batch.Run(t.Context(), nil), "a batch can be run again")
		require.EqualValues(t, 999*7, got[999])

		batch.Reset()
		require.Zero(t, batch.Len())
		require.NoError(t, batch.Run(t.Context(), nil), "there is nothing to do")
	})
}

// A batch leaves the memory between its regions unchanged.
func TestBatchLeavesTheRestAlone(t *testing.T) {
	eachTransferDevice(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		slice, err := memory.NewSlice[uint8](mgr, 10_000, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, slice.Fill(nil, 0xee))
		want := bytes.Repeat([]byte{0xee}, slice.Len())
		var batch memory.Batch
		for _, at := range []int{9_990, 100, 110, 0, 5_000} {
			part, err := slice.Slice(at, at+10)
			require.NoError(t, err)
			source := bytes.Repeat([]byte{byte(at)}, 10)
			copy(want[at:], source)
			require.NoError(t, memory.AddUpload(&batch, part, source))
		}
		require.NoError(t, batch.Run(t.Context(), nil))
		got := make([]byte, slice.Len())
		require.NoError(t, slice.Download(t.Context(), nil, got))
		require.True(t, bytes.Equal(want, got))
		require.NoError(t, slice.Release())
	})
}

func TestBatchRefuses(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr, other := devicetest.Manager(t, dev, memory.Options{}), devicetest.Manager(t, dev, memory.Options{})
		slice, foreign := scalars(t, mgr, 1)[0], scalars(t, other, 1)[0]
		wide, err := memory.NewSlice[int64](mgr, 4, memory.AllocateOptions{})
		require.NoError(t, err)
		gone, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
		require.NoError(t, err)
		one := []int64{1}

		var batch memory.Batch
		require.ErrorIs(t, memory.AddUpload(&batch, wide, one), memory.ErrRange)
		require.ErrorIs(t, memory.AddDownload(&batch, wide, one), memory.ErrRange)
		require.NoError(t, memory.AddUpload(&batch, memory.Slice[int64]{}, nil), "nothing is no mistake")
		require.NoError(t, memory.AddDownload(&batch, gone, one))
		require.ErrorIs(t, memory.AddUpload(&batch, foreign, one), device.ErrInvalidValue)
		require.NoError(t, gone.Release())
		require.ErrorIs(t, memory.AddUpload(&batch, gone, one), memory.ErrReleased)
		require.ErrorIs(t, batch.Run(t.Context(), nil), memory.ErrReleased, "released after it was added")

		batch.Reset()
		require.NoError(t, memory.AddUpload(&batch, foreign, one), "an empty batch takes any manager's")
		batch.Reset()
		for _, from := range []int{0, 1} {
			part, err := wide.Slice(from, from+3)
			require.NoError(t, err)
			require.NoError(t, memory.AddUpload(&batch, part, []int64{1, 2, 3}))
		}
		require.ErrorIs(t, batch.Run(t.Context(), nil), memory.ErrRange, "uploads overlap")

		batch.Reset()
		require.NoError(t, memory.AddUpload(&batch, slice, one))
		elsewhere := devicetest.Open(t, "host").DefaultStream()
		if dev.Kind() != device.Host {
			require.ErrorIs(t, batch.Run(t.Context(), elsewhere), device.ErrInvalidValue)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errGone)
		require.ErrorIs(t, batch.Run(ctx, nil), errGone)
		require.NoError(t, wide.Release())
		assert.Equal(t, 1, slice.Block().References(), "every reference is given back")
	})
}

// A batch orders its transfers after the pending work on blocks of other streams.
func TestBatchAcrossStreams(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		side, err := dev.NewStream()
		require.NoError(t, err)
		const n = 4 << 20
		slice, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{Stream: side})
		require.NoError(t, err)
		last, err := slice.Slice(n-10, n)
		require.NoError(t, err)
		for round := range 20 {
			require.NoError(t, slice.Fill(nil, uint8(round)))
			var batch memory.Batch
			got := make([]byte, 10)
			require.NoError(t, memory.AddDownload(&batch, last, got))
			require.NoError(t, batch.Run(t.Context(), nil))
			require.Equal(t, bytes.Repeat([]byte{byte(round)}, 10), got)
		}
		require.NoError(t, slice.Release())
		require.NoError(t, side.Close())
	})
}

// A batch makes one driver copy for adjacent regions, and one event for each direction.
func TestBatchDriverCalls(t *testing.T) {
	dev, f := openFaulty(t)
	mgr := devicetest.Manager(t, dev, memory.Options{})
	slice, err := memory.NewSlice[int64](mgr, 1000, memory.AllocateOptions{})
	require.NoError(t, err)
	var neighbours, apart memory.Batch
	got := make([]int64, 1000)
	for i := range 1000 {
		part, err := slice.Slice(i, i+1)
		require.NoError(t, err)
		require.NoError(t, memory.AddUpload(&neighbours, part, []int64{int64(i)}))
		require.NoError(t, memory.AddDownload(&neighbours, part, got[i:i+1]))
	}
	for _, block := range scalars(t, mgr, 1000) {
		require.NoError(t, memory.AddUpload(&apart, block, []int64{math.MaxInt64}))
	}
	slices.Reverse(got) // so that a wrong order of the results is detected
	require.NoError(t, neighbours.Run(context.Background(), nil))
	require.NoError(t, apart.Run(context.Background(), nil))
	require.True(t, slices.IsSorted(got))

	require.NoError(t, dev.Synchronize(t.Context())) // afterwards every chunk is idle
	f.arm(func(int64) error { return nil })
	require.NoError(t, neighbours.Run(context.Background(), nil))
	assert.LessOrEqual(t, f.enqueued.Load(), int64(4), "two copies and two events")
	require.NoError(t, dev.Synchronize(t.Context()))
	f.arm(func(int64) error { return nil })
	require.NoError(t, apart.Run(context.Background(), nil))
	assert.LessOrEqual(t, f.enqueued.Load(), int64(1001), "a thousand copies and an event")
	f.disarm()
	require.NoError(t, slice.Release())
}
