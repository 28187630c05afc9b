package memory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// These tests stage transfers to a device that behaves like a GPU but has host
// memory, so that they run everywhere and can make its driver fail.

const mebibyte = 1 << 20

var errDriver = errors.New("the driver fails")

// faulty calls a function at every driver call that transfers depend on, from some
// point on. Calls that release something are excluded: they cannot fail a transfer.
type faulty struct {
	backend.Device
	calls atomic.Int64
	// enqueued are the copies, fills and events of the calls. The number of queries,
	// waits and allocations depends on the speed of the device.
	enqueued atomic.Int64
	// at is called with the number of each call, beginning with 1.
	at atomic.Pointer[func(call int64) error]
	// hostFree is the error that HostFree returns instead of freeing; nil lets it
	// free.
	hostFree error
}

func (f *faulty) step() error {
	call := f.calls.Add(1)
	if at := f.at.Load(); at != nil {
		return (*at)(call)
	}
	return nil
}

// arm restarts the count and calls at from now on.
func (f *faulty) arm(at func(call int64) error) {
	f.calls.Store(0)
	f.enqueued.Store(0)
	f.at.Store(&at)
}

func (f *faulty) disarm() { f.at.Store(nil) }

func (f *faulty) HostFree(pointer unsafe.Pointer) error {
	if f.hostFree != nil {
		return f.hostFree
	}
	return f.Device.HostFree(pointer)
}

func (f *faulty) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	if err := f.step(); err != nil {
		return nil, err
	}
	return f.Device.HostAlloc(bytes)
}

func (f *faulty) CopyToDeviceAsync(to backend.Pointer, from unsafe.Pointer, bytes uint64, stream backend.Stream) error {
	f.enqueued.Add(1)
	if err := f.step(); err != nil {
		return err
	}
	return f.Device.CopyToDeviceAsync(to, from, bytes, stream)
}

func (f *faulty) CopyToHostAsync(to unsafe.Pointer, from backend.Pointer, bytes uint64, stream backend.Stream) error {
	f.enqueued.Add(1)
	if err := f.step(); err != nil {
		return err
	}
	return f.Device.CopyToHostAsync(to, from, bytes, stream)
}

func (f *faulty) MemsetAsync(to backend.Pointer, value uint32, width int, count uint64, stream backend.Stream) error {
	f.enqueued.Add(1)
	if err := f.step(); err != nil {
		return err
	}
	return f.Device.MemsetAsync(to, value, width, count, stream)
}

func (f *faulty) EventCreate(timing bool) (backend.Event, error) {
	if err := f.step(); err != nil {
		return 0, err
	}
	return f.Device.EventCreate(timing)
}

func (f *faulty) EventRecord(event backend.Event, stream backend.Stream) error {
	f.enqueued.Add(1)
	if err := f.step(); err != nil {
		return err
	}
	return f.Device.EventRecord(event, stream)
}

func (f *faulty) EventQuery(event backend.Event) (bool, error) {
	if err := f.step(); err != nil {
		return false, err
	}
	return f.Device.EventQuery(event)
}

func (f *faulty) EventSynchronize(event backend.Event) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.Device.EventSynchronize(event)
}

func (f *faulty) Synchronize() error {
	if err := f.step(); err != nil {
		return err
	}
	return f.Device.Synchronize()
}

func (f *faulty) StreamSynchronize(stream backend.Stream) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.Device.StreamSynchronize(stream)
}

func openFaulty(t testing.TB) (*device.Device, *faulty) {
	t.Helper()
	return launchtest.OpenWrapped(t, func(below backend.Device) *faulty { return &faulty{Device: below} })
}

// eachTransferDevice runs f on every available device, and on a host device that
// stages its transfers.
func eachTransferDevice(t *testing.T, f func(t *testing.T, dev *device.Device)) {
	t.Helper()
	devicetest.Each(t, f)
	t.Run("staged", func(t *testing.T) {
		dev, _ := openFaulty(t)
		f(t, dev)
	})
}

func TestStagedTransfersAtTheSameTime(t *testing.T) {
	dev, _ := openFaulty(t)
	mgr := devicetest.Manager(t, dev, memory.Options{
		Staging: memory.StagingOptions{Workers: 4, ChunkBytes: 256 << 10, Chunks: 3},
	})
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			for _, n := range []int{1, 300_000, 3<<20 + 7} {
				slice, err := memory.NewSlice[uint8](mgr, n, memory.AllocateOptions{})
				if !assert.NoError(t, err) {
					return
				}
				want, got := random(n), make([]byte, n)
				assert.NoError(t, slice.Upload(t.Context(), nil, want))
				assert.NoError(t, slice.Download(t.Context(), nil, got))
				assert.True(t, bytes.Equal(want, got), "%d bytes", n)
				assert.NoError(t, slice.Release())
				_, err = mgr.TrimStaging(0)
				assert.NoError(t, err)
			}
		})
	}
	group.Wait()
	stats := mgr.StagingStats()
	assert.Zero(t, stats.InUse)
	assert.LessOrEqual(t, stats.Pinned, stats.Limit)
}

// exercise makes a transfer of every kind: through chunks, directly from and to
// pinned memory, filled by the device, and in a batch.
type exercise struct {
	mgr          *memory.Manager
	whole, small memory.Slice[uint8]
	pinned       []byte
	want, got    []byte
}

const (
	stagedBytes = 500_000
	directBytes = 256 << 10
	blankBytes  = 200_000
)

func newExercise(t *testing.T, dev *device.Device) *exercise {
	t.Helper()
	allocator := memory.NewPinnedAllocator(dev, 0)
	t.Cleanup(func() { require.NoError(t, allocator.Close()) })
	mgr, err := memory.NewManager(dev, memory.Options{
		Staging: memory.StagingOptions{Workers: 3, ChunkBytes: 128 << 10, Chunks: 3},
	})
	require.NoError(t, err)
	x := &exercise{mgr: mgr, pinned: allocator.Allocate(directBytes)}
	t.Cleanup(func() { allocator.Free(x.pinned) })
	total := stagedBytes + directBytes + blankBytes
	x.want, x.got = random(total), make([]byte, total)
	for i := range blankBytes {
		x.want[stagedBytes+directBytes+i] = 0x5a
	}
	x.whole, err = memory.NewSlice[uint8](mgr, total, memory.AllocateOptions{})
	require.NoError(t, err)
	x.small, err = memory.NewSlice[uint8](mgr, 100_000, memory.AllocateOptions{})
	require.NoError(t, err)
	return x
}

func (x *exercise) upload(ctx context.Context) error {
	copy(x.pinned, x.want[stagedBytes:])
	return memory.UploadPadded(ctx, nil, x.whole, []memory.Source{
		{Data: x.want[:stagedBytes]}, {Offset: stagedBytes, Data: x.pinned},
	}, 0x5a)
}

func (x *exercise) download(ctx context.Context) error {
	clear(x.got)
	clear(x.pinned)
	at := func(from, to int) memory.Slice[uint8] {
		part, _ := x.whole.Slice(from, to)
		return part
	}
	const direct = stagedBytes + directBytes
	err := memory.Download(ctx, nil, []memory.Destination{
		{From: at(0, stagedBytes), Data: x.got[:stagedBytes]},
		{From: at(stagedBytes, direct), Data: x.pinned},
		{From: at(direct, len(x.got)), Data: x.got[direct:]},
	})
	copy(x.got[stagedBytes:], x.pinned)
	if err == nil && !bytes.Equal(x.want, x.got) {
		return errors.New("other bytes came back")
	}
	return err
}

func (x *exercise) batch(ctx context.Context) error {
	var batch memory.Batch
	got := make([]byte, 100*40)
	for i := range 100 {
		part, _ := x.small.Slice(i*1000, i*1000+40)
		if err := errors.Join(
			memory.AddUpload(&batch, part, x.want[i*40:(i+1)*40]),
			memory.AddDownload(&batch, part, got[i*40:(i+1)*40]),
		); err != nil {
			return err
		}
	}
	err := batch.Run(ctx, nil)
	if err == nil && !bytes.Equal(x.want[:len(got)], got) {
		return errors.New("other bytes came back")
	}
	return err
}

// works checks that nothing was lost and that transfers still work.
func (x *exercise) works(t *testing.T) {
	t.Helper()
	require.Zero(t, x.mgr.StagingStats().InUse, "a chunk is lost")
	require.NoError(t, x.upload(t.Context()))
	require.NoError(t, x.download(t.Context()))
	require.NoError(t, x.batch(t.Context()))
	require.Zero(t, x.mgr.StagingStats().InUse)
}

func (x *exercise) end(t *testing.T) {
	t.Helper()
	require.NoError(t, x.whole.Release())
	require.NoError(t, x.small.Release())
	require.NoError(t, x.mgr.Close())
	require.Zero(t, x.mgr.StagingStats().Pinned)
}

// transfers are the transfers that the tests make fail. Each begins without any
// chunk.
func (x *exercise) transfers() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{"upload": x.upload, "download": x.download, "batch": x.batch}
}

// If any call of the driver fails, the transfer returns its error or has completed,
// nothing leaks or blocks, and later transfers work.
func TestTransfersSurviveEveryFailure(t *testing.T) {
	for _, name := range []string{"upload", "download", "batch"} {
		for label, ctx := range map[string]context.Context{"waiting": context.Background(), "polling": t.Context()} {
			t.Run(name+" "+label, func(t *testing.T) {
				dev, f := openFaulty(t)
				x := newExercise(t, dev)
				failures := 0
				for nth := int64(1); ; nth++ {
					x.works(t)
					_, err := x.mgr.TrimStaging(0)
					require.NoError(t, err)
					f.arm(func(call int64) error {
						if call == nth {
							return errDriver
						}
						return nil
					})
					err = x.transfers()[name](ctx)
					f.disarm()
					if err != nil {
						require.ErrorIs(t, err, errDriver, "call %d", nth)
						failures++
					}
					if f.calls.Load() < nth {
						break
					}
				}
				assert.Greater(t, failures, 3, "the transfer depends on more calls than that")
				x.end(t)
			})
		}
	}
}

// If the device is lost at any call, transfers fail and return, and Close frees the
// pinned memory.
func TestTransfersOnALostDevice(t *testing.T) {
	for _, name := range []string{"upload", "download", "batch"} {
		t.Run(name, func(t *testing.T) {
			for nth, reached := int64(1), true; reached; nth++ {
				// A test for each call gives its memory back before the next one.
				t.Run(fmt.Sprint("call ", nth), func(t *testing.T) { reached = loseDevice(t, name, nth) })
			}
		})
	}
}

// loseDevice loses the device at a call of a transfer. It returns false if the transfer has fewer calls.
func loseDevice(t *testing.T, name string, nth int64) (reached bool) {
	dev, f := openFaulty(t)
	x := newExercise(t, dev)
	require.NoError(t, x.upload(t.Context()))
	_, err := x.mgr.TrimStaging(0)
	require.NoError(t, err)
	f.arm(func(call int64) error {
		if call >= nth {
			return device.ErrDeviceLost
		}
		return nil
	})
	err = x.transfers()[name](t.Context())
	reached = f.calls.Load() >= nth
	if reached {
		require.ErrorIs(t, err, device.ErrDeviceLost)
		require.ErrorIs(t, x.upload(t.Context()), device.ErrDeviceLost)
		require.ErrorIs(t, x.batch(t.Context()), device.ErrDeviceLost)
	} else {
		require.NoError(t, err)
	}
	f.disarm()
	require.NoError(t, x.whole.Release())
	require.NoError(t, x.small.Release())
	require.NoError(t, x.mgr.Close())
	require.Zero(t, x.mgr.StagingStats().Pinned)
	return reached
}

var errGone = errors.New("the user went away")

// If the context ends at any call of the driver, the transfer returns its error or
// has completed, nothing leaks, and later transfers work.
func TestTransfersCancelledAtEveryCall(t *testing.T) {
	for _, name := range []string{"upload", "download", "batch"} {
		t.Run(name, func(t *testing.T) {
			dev, f := openFaulty(t)
			x := newExercise(t, dev)
			cancelled := 0
			for nth := int64(1); ; nth++ {
				x.works(t)
				ctx, cancel := context.WithCancelCause(t.Context())
				f.arm(func(call int64) error {
					if call == nth {
						cancel(errGone)
					}
					return nil
				})
				err := x.transfers()[name](ctx)
				f.disarm()
				cancel(nil)
				if err != nil {
					require.ErrorIs(t, err, errGone, "call %d", nth)
					cancelled++
				}
				if f.calls.Load() < nth {
					break
				}
			}
			assert.Positive(t, cancelled)
			x.end(t)
		})
	}
}

// countdown is a context that ends after a number of checks.
type countdown struct {
	context.Context
	left atomic.Int64
	done chan struct{}
	once sync.Once
}

func (c *countdown) Err() error {
	if c.left.Add(-1) >= 0 {
		return nil
	}
	c.once.Do(func() { close(c.done) })
	return errGone
}

func (c *countdown) Done() <-chan struct{} { return c.done }

// Value hides the context below, or its cause would be returned instead.
func (c *countdown) Value(any) any { return nil }

// The same for every check of the context during a transfer.
func TestTransfersCancelledAtEveryLook(t *testing.T) {
	for _, name := range []string{"upload", "download", "batch"} {
		t.Run(name, func(t *testing.T) {
			dev, _ := openFaulty(t)
			x := newExercise(t, dev)
			for looks := int64(0); ; looks++ {
				x.works(t)
				ctx := &countdown{Context: t.Context(), done: make(chan struct{})}
				ctx.left.Store(looks)
				err := x.transfers()[name](ctx)
				if ctx.left.Load() >= 0 {
					require.NoError(t, err)
					require.Greater(t, looks, int64(2))
					break
				}
				require.ErrorIs(t, err, errGone, "%d looks", looks)
			}
			x.end(t)
		})
	}
}
