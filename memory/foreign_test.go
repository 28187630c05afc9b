package memory_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/buckets"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// touched is a host device that records every use of a stream that was destroyed or is
// temporarily forbidden. On a GPU such a use would crash.
type touched struct {
	backend.Device
	noAll bool

	mu        sync.Mutex
	forbidden map[backend.Stream]bool
	faults    []string
	calls     atomic.Int64
}

func (d *touched) use(call string, stream backend.Stream) {
	d.calls.Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.forbidden[stream] {
		d.faults = append(d.faults, fmt.Sprintf("%s(%d)", call, stream))
	}
}

func (d *touched) forbid(stream backend.Stream) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forbidden[stream] = true
}

func (d *touched) requireUntouched(t *testing.T) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	require.Empty(t, d.faults, "a stream was touched after the call that named it")
}

func (d *touched) StreamSynchronize(s backend.Stream) error {
	d.use("StreamSynchronize", s)
	return d.Device.StreamSynchronize(s)
}

func (d *touched) StreamQuery(s backend.Stream) (bool, error) {
	d.use("StreamQuery", s)
	return d.Device.StreamQuery(s)
}

func (d *touched) StreamWaitEvent(s backend.Stream, e backend.Event) error {
	d.use("StreamWaitEvent", s)
	return d.Device.StreamWaitEvent(s, e)
}

func (d *touched) EventRecord(e backend.Event, s backend.Stream) error {
	d.use("EventRecord", s)
	return d.Device.EventRecord(e, s)
}

func (d *touched) EventQuery(e backend.Event) (bool, error) {
	d.calls.Add(1)
	return d.Device.EventQuery(e)
}

func (d *touched) EventSynchronize(e backend.Event) error {
	d.calls.Add(1)
	return d.Device.EventSynchronize(e)
}

func (d *touched) EventRecordAll(e backend.Event) error {
	d.calls.Add(1)
	if d.noAll {
		return fmt.Errorf("EventRecordAll: %w", backend.ErrNotSupported)
	}
	return d.Device.EventRecordAll(e)
}

func (d *touched) StreamIdentity(s backend.Stream) (uint64, error) {
	d.use("StreamIdentity", s)
	return d.Device.StreamIdentity(s)
}

func (d *touched) StreamCapturing(s backend.Stream) (bool, error) {
	d.use("StreamCapturing", s)
	return d.Device.StreamCapturing(s)
}

func (d *touched) MemsetAsync(p backend.Pointer, value uint32, width int, count uint64, s backend.Stream) error {
	d.use("MemsetAsync", s)
	return d.Device.MemsetAsync(p, value, width, count, s)
}

func (d *touched) AllocAsync(bytes uint64, pool backend.Pool, s backend.Stream) (backend.Pointer, error) {
	d.use("AllocAsync", s)
	return d.Device.AllocAsync(bytes, pool, s)
}

func (d *touched) FreeAsync(p backend.Pointer, s backend.Stream) error {
	d.use("FreeAsync", s)
	return d.Device.FreeAsync(p, s)
}

func (d *touched) Free(p backend.Pointer) error {
	d.calls.Add(1)
	return d.Device.Free(p)
}

func (d *touched) Devices() ([]backend.Info, error) { return []backend.Info{d.Info()}, nil }
func (d *touched) Open(int) (backend.Device, error) { return d, nil }

var touchedDevices atomic.Int64

func openTouched(t *testing.T) (*device.Device, *touched) {
	t.Helper()
	below, err := host.Driver{}.Open(0)
	require.NoError(t, err)
	d := &touched{Device: below, forbidden: map[backend.Stream]bool{}}
	name := fmt.Sprintf("touched%d", touchedDevices.Add(1))
	require.NoError(t, device.Register(name, d))
	dev, err := device.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev, d
}

// wrapped returns a stream of another library.
func (d *touched) wrapped(t *testing.T, dev *device.Device) *device.Stream {
	t.Helper()
	handle, err := d.StreamCreate()
	require.NoError(t, err)
	stream := dev.WrapStream(handle)
	require.True(t, streamwork.Foreign(stream))
	return stream
}

// destroy destroys a stream as the other library would.
func (d *touched) destroy(t *testing.T, stream *device.Stream) {
	t.Helper()
	d.forbid(stream.Handle())
	require.NoError(t, d.StreamDestroy(stream.Handle()))
}

func (d *touched) hold(t *testing.T, stream *device.Stream) (release func()) {
	t.Helper()
	release, err := d.Device.(interface {
		HoldStream(backend.Stream) (func(), error)
	}).HoldStream(stream.Handle())
	require.NoError(t, err)
	return release
}

// everyResource runs a test with each kind of resource.
func everyResource(t *testing.T, f func(t *testing.T, m *memory.Manager, d *touched)) {
	for name, open := range map[string]func(dev *device.Device) (memory.Resource, error){
		"caching, fixed": func(dev *device.Device) (memory.Resource, error) {
			return memory.NewCachingResource(dev, memory.CachingOptions{Segments: memory.FixedSegments})
		},
		"caching, expandable": func(dev *device.Device) (memory.Resource, error) {
			return memory.NewCachingResource(dev, memory.CachingOptions{Segments: memory.ExpandableSegments})
		},
		"driver": func(dev *device.Device) (memory.Resource, error) { return memory.NewDriverResource(dev), nil },
		"stream-ordered": func(dev *device.Device) (memory.Resource, error) {
			return memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
		},
		"buckets": func(dev *device.Device) (memory.Resource, error) {
			return buckets.New(memory.NewDriverResource(dev), buckets.Options{})
		},
		"poison above guard": func(dev *device.Device) (memory.Resource, error) {
			return adaptor.NewPoison(adaptor.NewGuard(memory.NewDriverResource(dev), adaptor.GuardOptions{}), adaptor.PoisonOptions{}), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "caching, expandable" {
				memory.SkipFewAddresses(t, memory.ExpandableSegments)
			}
			dev, d := openTouched(t)
			resource, err := open(dev)
			if err != nil {
				require.ErrorIs(t, err, device.ErrNotSupported)
				t.Skip(err)
			}
			t.Cleanup(func() { require.NoError(t, resource.Close()) })
			f(t, devicetest.Manager(t, dev, memory.Options{Budget: 1 << 30, Resource: resource}), d)
			d.requireUntouched(t)
		})
	}
}

// Memory allocated on a stream of another library outlives the stream.
func TestMemoryOfADestroyedStream(t *testing.T) {
	everyResource(t, func(t *testing.T, m *memory.Manager, d *touched) {
		theirs := d.wrapped(t, m.Device())
		for _, order := range []string{"released first", "destroyed first", "used elsewhere"} {
			s, err := memory.NewSlice[uint8](m, 3<<20, memory.AllocateOptions{Stream: theirs})
			require.NoError(t, err, order)
			require.NoError(t, s.Fill(nil, 1))
			switch order {
			case "released first":
				require.NoError(t, s.Release())
				continue
			case "used elsewhere":
				require.NoError(t, s.Block().RecordUse(m.Stream()))
			}
			d.forbid(theirs.Handle())
			got := make([]uint8, 3<<20)
			require.NoError(t, s.Download(t.Context(), m.Stream(), got))
			require.EqualValues(t, 1, got[len(got)-1])
			idle, err := s.Block().Idle()
			require.NoError(t, err)
			require.True(t, idle)
			require.NoError(t, s.Block().Synchronize(t.Context()))
			require.False(t, streamwork.Foreign(s.Block().WorkStream()))
			require.NoError(t, s.Release())
			delete(d.forbidden, theirs.Handle())
		}
		d.destroy(t, theirs)
		for range 3 {
			b, err := m.Allocate(2<<20, memory.AllocateOptions{})
			require.NoError(t, err)
			require.NoError(t, b.Release())
		}
		if trimmer, ok := m.Resource().(resource.Trimmer); ok {
			_, err := trimmer.Trim(0)
			require.NoError(t, err)
		}
	})
}

// A resource with a limit recovers the memory of a destroyed stream.
func TestMemoryOfADestroyedStreamIsFound(t *testing.T) {
	dev, d := openTouched(t)
	pool, err := memory.NewCachingResource(dev, memory.CachingOptions{LimitBytes: 100 << 20})
	require.NoError(t, err)
	m := devicetest.Manager(t, dev, memory.Options{Budget: 1 << 30, Resource: pool})
	theirs := d.wrapped(t, dev)
	s, err := memory.NewSlice[uint8](m, 80<<20, memory.AllocateOptions{Stream: theirs})
	require.NoError(t, err)
	require.NoError(t, s.Fill(nil, 1))
	require.NoError(t, s.Release())
	d.destroy(t, theirs)
	b, err := m.Allocate(60<<20, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, b.Release())
	require.NoError(t, dev.Synchronize(t.Context()))
	_, err = pool.Trim(0)
	require.NoError(t, err)
	require.Zero(t, pool.Stats().Reserved)
	require.NoError(t, pool.Close())
	d.requireUntouched(t)
}

// Work of a consumer on an unknown stream precedes the next use of the memory, and the
// deleter makes no driver call.
func TestForeignUse(t *testing.T) {
	for _, old := range []bool{false, true} {
		t.Run(fmt.Sprint("a driver before CUDA 12.5: ", old), func(t *testing.T) {
			everyResource(t, func(t *testing.T, m *memory.Manager, d *touched) {
				d.noAll = old
				ctx := t.Context()
				theirs := d.wrapped(t, m.Device())
				s, err := memory.NewSlice[uint8](m, 1<<20, memory.AllocateOptions{})
				require.NoError(t, err)
				require.NoError(t, s.Fill(nil, 1))
				for round := range byte(4) {
					require.NoError(t, s.Block().BeginExport())
					require.NoError(t, s.Order(theirs))
					release := d.hold(t, theirs)
					require.NoError(t, d.MemsetAsync(backend.Pointer(s.Pointer()), uint32(round), 1, 1<<20, theirs.Handle()))
					d.forbid(theirs.Handle())

					calls := d.calls.Load()
					require.NoError(t, s.Block().RecordForeignUse())
					require.NoError(t, s.Block().EndExport())
					require.Equal(t, calls, d.calls.Load(), "a deleter calls nothing of the driver")

					if !old {
						idle, err := s.Block().Idle()
						require.NoError(t, err)
						require.False(t, idle)
						expired, cancel := context.WithCancel(ctx)
						cancel()
						require.ErrorIs(t, s.Block().Synchronize(expired), context.Canceled)
					}
					go release()
					got := make([]uint8, 1<<20)
					require.NoError(t, s.Download(ctx, nil, got))
					require.Equal(t, round, got[0])
					require.Equal(t, round, got[1<<20-1])
					delete(d.forbidden, theirs.Handle())
				}
				d.destroy(t, theirs)
				require.NoError(t, s.Release())
			})
		})
	}
}

// Memory released by a deleter is not reused before the consumer's work has completed.
func TestLastReleaseInADeleter(t *testing.T) {
	everyResource(t, func(t *testing.T, m *memory.Manager, d *touched) {
		theirs := d.wrapped(t, m.Device())
		victim, err := memory.NewSlice[uint8](m, 1<<20, memory.AllocateOptions{})
		require.NoError(t, err)
		require.NoError(t, victim.Block().BeginExport())
		require.NoError(t, victim.Order(theirs))
		release := d.hold(t, theirs)
		require.NoError(t, d.MemsetAsync(backend.Pointer(victim.Pointer()), 0xEE, 1, 1<<20, theirs.Handle()))
		d.destroy(t, theirs)
		require.NoError(t, victim.Release())
		calls := d.calls.Load()
		require.NoError(t, victim.Block().RecordForeignUse())
		require.NoError(t, victim.Block().EndExport())
		require.Equal(t, calls, d.calls.Load(), "a deleter calls nothing of the driver")
		require.Zero(t, m.Stats().InUse)

		done := make(chan memory.Slice[uint8], 1)
		go func() {
			next, err := memory.NewSlice[uint8](m, 1<<20, memory.AllocateOptions{})
			assert.NoError(t, err)
			assert.NoError(t, next.Fill(nil, 7))
			done <- next
		}()
		// It has other memory, or the fill waits on the device, or the allocation waits.
		await.Until(t, func() bool {
			return len(done) == 1 || await.Waits("github.com/gpuframe/gpuframe/memory_test.TestLastReleaseInADeleter.")
		}, "the memory is allocated, or the allocation waits for the work")
		release()
		next := <-done
		got := make([]uint8, 1<<20)
		require.NoError(t, next.Download(t.Context(), nil, got))
		require.NoError(t, m.Device().Synchronize(t.Context()))
		require.NoError(t, next.Download(t.Context(), nil, got))
		require.EqualValues(t, 7, got[0])
		require.EqualValues(t, 7, got[1<<20-1])
		require.NoError(t, next.Release())
	})
}
