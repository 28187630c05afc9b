package memory_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// pinner counts the allocations of pinned memory and the copies to the device, and
// calls a function before each.
type pinner struct {
	backend.Device
	allocated, copied atomic.Int64
	// alloc is called with the number of each allocation, beginning with 1.
	alloc func(nth int64) error
	copy  func(nth int64)
}

func (p *pinner) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	if err := p.alloc(p.allocated.Add(1)); err != nil {
		return nil, err
	}
	return p.Device.HostAlloc(bytes)
}

func (p *pinner) CopyToDeviceAsync(to backend.Pointer, from unsafe.Pointer, bytes uint64, stream backend.Stream) error {
	p.copy(p.copied.Add(1))
	return p.Device.CopyToDeviceAsync(to, from, bytes, stream)
}

const (
	warmChunks     = 4
	warmChunkBytes = 256 << 10
)

func openPinner(t *testing.T) (*memory.Manager, *pinner) {
	t.Helper()
	dev, p := launchtest.OpenWrapped(t, func(below backend.Device) *pinner {
		return &pinner{Device: below, alloc: func(int64) error { return nil }, copy: func(int64) {}}
	})
	return devicetest.Manager(t, dev, memory.Options{
		Staging: memory.StagingOptions{Workers: 2, ChunkBytes: warmChunkBytes, Chunks: warmChunks},
	}), p
}

// roundTrip uploads and downloads many chunks.
func roundTrip(t *testing.T, mgr *memory.Manager) (up, down error) {
	t.Helper()
	want := random(20*warmChunkBytes + 11)
	got := make([]byte, len(want))
	slice, err := memory.NewSlice[uint8](mgr, len(want), memory.AllocateOptions{})
	require.NoError(t, err)
	up = slice.Upload(t.Context(), nil, want)
	if down = slice.Download(t.Context(), nil, got); up == nil && down == nil {
		require.True(t, bytes.Equal(want, got))
	}
	require.NoError(t, slice.Release())
	require.Zero(t, mgr.StagingStats().InUse)
	return up, down
}

func TestWarmStaging(t *testing.T) {
	eachTransferDevice(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{
			Staging: memory.StagingOptions{ChunkBytes: warmChunkBytes, Chunks: warmChunks},
		})
		require.NoError(t, mgr.WarmStaging(t.Context()))
		stats := mgr.StagingStats()
		require.Zero(t, stats.InUse)
		if dev.Kind() == device.Host {
			require.Zero(t, stats.Pinned, "transfers on the host need none")
			return
		}
		require.EqualValues(t, warmChunks*warmChunkBytes, stats.Pinned)
		up, down := roundTrip(t, mgr)
		require.NoError(t, up)
		require.NoError(t, down)
		require.NoError(t, mgr.WarmStaging(t.Context()), "a second time there is nothing to do")
		require.Equal(t, stats, mgr.StagingStats())
		_, err := mgr.TrimStaging(0)
		require.NoError(t, err)
	})
}

func TestWarmStagingLeavesNothingToPin(t *testing.T) {
	mgr, p := openPinner(t)
	require.NoError(t, mgr.WarmStaging(t.Context()))
	require.EqualValues(t, warmChunks, p.allocated.Load())
	up, down := roundTrip(t, mgr)
	require.NoError(t, up)
	require.NoError(t, down)
	require.EqualValues(t, warmChunks, p.allocated.Load())
}

// If any allocation fails, or the context ends during it, WarmStaging returns the
// error, the memory pinned so far is usable, and WarmStaging can be called again.
func TestWarmStagingFailsAtEveryAllocation(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		for nth := int64(1); nth <= warmChunks; nth++ {
			mgr, p := openPinner(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			want, made := errDriver, nth-1
			if cancelled {
				want, made = errGone, nth
			}
			p.alloc = func(call int64) error {
				if call != nth {
					return nil
				}
				if cancelled {
					cancel(errGone)
					return nil
				}
				return errDriver
			}
			err := mgr.WarmStaging(ctx)
			if cancelled && nth == warmChunks && err == nil {
				want = nil // all of the memory was pinned
			}
			require.ErrorIs(t, err, want, "allocation %d", nth)
			require.EqualValues(t, made*warmChunkBytes, mgr.StagingStats().Pinned)
			require.Zero(t, mgr.StagingStats().InUse)
			up, down := roundTrip(t, mgr)
			require.NoError(t, up)
			require.NoError(t, down)
			require.NoError(t, mgr.WarmStaging(t.Context()))
			require.EqualValues(t, warmChunks*warmChunkBytes, mgr.StagingStats().Pinned)
			cancel(nil)
		}
	}
}

func TestWarmStagingAfterClose(t *testing.T) {
	dev, _ := openFaulty(t)
	mgr, err := memory.NewManager(dev, memory.Options{})
	require.NoError(t, err)
	require.NoError(t, mgr.Close())
	require.ErrorIs(t, mgr.WarmStaging(t.Context()), device.ErrClosed)
}

// Bytes are transferred through the first chunk while the second is being pinned.
func TestTransfersTravelWhileMemoryIsPinned(t *testing.T) {
	mgr, p := openPinner(t)
	travelled := make(chan struct{})
	p.copy = func(nth int64) {
		if nth == 3 {
			close(travelled)
		}
	}
	p.alloc = func(nth int64) error {
		if nth != 2 {
			return nil
		}
		select {
		case <-travelled:
			return nil
		case <-time.After(await.Limit):
			return await.ErrHangs
		}
	}
	up, down := roundTrip(t, mgr)
	require.NoError(t, up)
	require.NoError(t, down)
}

// Transfers use the existing chunks if no more can be pinned, and fail if no chunk
// exists. Later transfers try again.
func TestTransfersWithLittlePinnedMemory(t *testing.T) {
	for made := int64(0); made < warmChunks; made++ {
		mgr, p := openPinner(t)
		p.alloc = func(nth int64) error {
			if nth > made {
				return errDriver
			}
			return nil
		}
		up, down := roundTrip(t, mgr)
		if made == 0 {
			require.ErrorIs(t, up, errDriver)
			require.ErrorIs(t, down, errDriver)
		} else {
			require.NoError(t, up)
			require.NoError(t, down)
		}
		assert.LessOrEqual(t, mgr.StagingStats().Pinned, uint64(made*warmChunkBytes))
		p.alloc = func(int64) error { return nil }
		up, down = roundTrip(t, mgr)
		require.NoError(t, up)
		require.NoError(t, down)
	}
}
