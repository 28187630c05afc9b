package buckets_test

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// holding is the host device with streams that tests can hold: work and events on a
// held stream appear pending until the hold ends.
type holding struct {
	backend.Device
	mu      sync.Mutex
	held    map[backend.Stream]bool
	pending map[backend.Event]backend.Stream

	streamsCreated, eventsCreated, eventsDestroyed, records, waits, synchronized atomic.Int64
}

var holdingDevices atomic.Int64

func (h *holding) Devices() ([]backend.Info, error) { return []backend.Info{h.Info()}, nil }
func (h *holding) Open(int) (backend.Device, error) { return h, nil }

// openHolding opens such a device until the end of the test. The test fails if an event
// is left or if any call has waited for the whole device.
func openHolding(t testing.TB) (*device.Device, *holding) {
	t.Helper()
	below, err := host.Driver{}.Open(0)
	require.NoError(t, err)
	h := &holding{Device: below, held: map[backend.Stream]bool{}, pending: map[backend.Event]backend.Stream{}}
	name := fmt.Sprintf("bucketstest-%d", holdingDevices.Add(1))
	require.NoError(t, device.Register(name, h))
	dev, err := device.Open(name)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Zero(t, h.synchronized.Load(), "the whole device was waited for")
		require.NoError(t, dev.Close())
		// A closed stream keeps one event until it is collected.
		require.LessOrEqual(t, h.eventsCreated.Load()-h.eventsDestroyed.Load(), h.streamsCreated.Load(), "events are left")
	})
	return dev, h
}

func (h *holding) hold(stream *device.Stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held[stream.Handle()] = true
}

// waitIdle waits for all real work of the host device.
func (h *holding) waitIdle() {
	if err := h.Device.Synchronize(); err != nil {
		panic(err)
	}
}

// letGo ends a hold. Events recorded on the stream so far are reached when it returns.
func (h *holding) letGo(stream *device.Stream) {
	h.waitIdle()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, stream.Handle())
	maps.DeleteFunc(h.pending, func(_ backend.Event, on backend.Stream) bool { return on == stream.Handle() })
}

func (h *holding) Synchronize() error {
	h.synchronized.Add(1)
	return h.Device.Synchronize()
}

func (h *holding) StreamSynchronize(stream backend.Stream) error {
	h.waits.Add(1)
	return h.Device.StreamSynchronize(stream)
}

func (h *holding) StreamQuery(stream backend.Stream) (bool, error) {
	h.mu.Lock()
	held := h.held[stream]
	h.mu.Unlock()
	done, err := h.Device.StreamQuery(stream)
	return done && !held, err
}

func (h *holding) StreamCreate() (backend.Stream, error) {
	h.streamsCreated.Add(1)
	return h.Device.StreamCreate()
}

func (h *holding) EventCreate(timing bool) (backend.Event, error) {
	h.eventsCreated.Add(1)
	return h.Device.EventCreate(timing)
}

func (h *holding) EventDestroy(event backend.Event) error {
	h.eventsDestroyed.Add(1)
	return h.Device.EventDestroy(event)
}

func (h *holding) EventRecord(event backend.Event, stream backend.Stream) error {
	h.records.Add(1)
	h.mu.Lock()
	delete(h.pending, event)
	if h.held[stream] {
		h.pending[event] = stream
	}
	h.mu.Unlock()
	return h.Device.EventRecord(event, stream)
}

func (h *holding) isPending(event backend.Event) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, pending := h.pending[event]
	return pending
}

func (h *holding) EventQuery(event backend.Event) (bool, error) {
	done, err := h.Device.EventQuery(event)
	return done && !h.isPending(event), err
}

func (h *holding) EventSynchronize(event backend.Event) error {
	if h.isPending(event) {
		h.waits.Add(1)
	}
	return h.Device.EventSynchronize(event)
}

var errUpstream = errors.New("the upstream fails")

// counting is an upstream that tracks its outstanding allocations.
type counting struct {
	memory.Resource
	mu          sync.Mutex
	outstanding map[device.Pointer]uint64
	bytes       uint64
	// allocations and frees count successful calls.
	allocations, frees int
	// limit is the largest number of outstanding bytes; zero means no limit.
	limit uint64
	// onFree, if set, is called by every Free with its arguments.
	onFree func(resource.Allocation, []*device.Stream)
	// mistakes are frees of memory that is not outstanding.
	mistakes []string
}

func newCounting(below memory.Resource) *counting {
	return &counting{Resource: below, outstanding: map[device.Pointer]uint64{}}
}

func (u *counting) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	u.mu.Lock()
	full := u.limit > 0 && u.bytes+bytes > u.limit
	u.mu.Unlock()
	if full {
		return resource.Allocation{}, errUpstream
	}
	allocation, err := u.Resource.Allocate(bytes, stream)
	if err != nil {
		return allocation, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.outstanding[allocation.Pointer] = bytes
	u.bytes += bytes
	u.allocations++
	return allocation, nil
}

func (u *counting) Free(allocation resource.Allocation, further []*device.Stream) error {
	u.mu.Lock()
	bytes, ok := u.outstanding[allocation.Pointer]
	if !ok || bytes != allocation.Bytes {
		u.mistakes = append(u.mistakes, fmt.Sprintf("%v of %d bytes freed, %d outstanding", allocation.Pointer, allocation.Bytes, bytes))
	}
	delete(u.outstanding, allocation.Pointer)
	u.bytes -= bytes
	u.frees++
	onFree := u.onFree
	u.mu.Unlock()
	if onFree != nil {
		onFree(allocation, further)
	}
	return u.Resource.Free(allocation, further)
}

func (u *counting) balance() (blocks int, bytes uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.outstanding), u.bytes
}

// requireEmpty fails the test if memory is outstanding.
func (u *counting) requireEmpty(t require.TestingT) {
	blocks, bytes := u.balance()
	require.Zero(t, blocks)
	require.Zero(t, bytes)
	require.Empty(t, u.mistakes)
}

func newStreams(t testing.TB, dev *device.Device, n int) []*device.Stream {
	t.Helper()
	streams := make([]*device.Stream, n)
	for i := range streams {
		stream, err := dev.NewStream()
		require.NoError(t, err)
		streams[i] = stream
		t.Cleanup(func() {
			if !stream.Closed() {
				require.NoError(t, stream.Close())
			}
		})
	}
	return streams
}
