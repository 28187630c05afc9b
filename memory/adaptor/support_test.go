package adaptor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Every adaptor passes Trim on and returns its upstream.
var (
	_ layer = (*adaptor.Aligned)(nil)
	_ layer = (*adaptor.Borrowed)(nil)
	_ layer = (*adaptor.Fault)(nil)
	_ layer = (*adaptor.Guard)(nil)
	_ layer = (*adaptor.Limit)(nil)
	_ layer = (*adaptor.Logging)(nil)
	_ layer = (*adaptor.Poison)(nil)
	_ layer = (*adaptor.Retry)(nil)
	_ layer = (*adaptor.Statistics)(nil)
	_ layer = (*adaptor.Tracking)(nil)
)

type layer interface {
	resource.Stacked
	resource.Trimmer
	resource.ContextAllocator
}

// ledger is the lowest resource of every stack in these tests. It records the
// allocations and checks that each is freed unchanged, with its Private.
type ledger struct {
	memory.Resource
	mu     sync.Mutex
	held   map[device.Pointer]entry
	served uint64
	wrong  error
	closed int
	// cached is the number of bytes that Trim releases.
	cached uint64
}

type entry struct {
	bytes  uint64
	stream *device.Stream
	token  *int
}

func newLedger(resource memory.Resource) *ledger {
	return &ledger{Resource: resource, held: make(map[device.Pointer]entry)}
}

func (l *ledger) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	allocation, err := l.Resource.Allocate(bytes, stream)
	if err != nil {
		return allocation, err
	}
	token := new(int)
	allocation.Private = token
	l.mu.Lock()
	defer l.mu.Unlock()
	l.served++
	l.held[allocation.Pointer] = entry{bytes, stream, token}
	return allocation, nil
}

func (l *ledger) Free(allocation resource.Allocation, further []*device.Stream) error {
	l.mu.Lock()
	e, known := l.held[allocation.Pointer]
	if !known || e.bytes != allocation.Bytes || e.stream != allocation.Stream || any(e.token) != allocation.Private {
		l.wrong = errors.Join(l.wrong, fmt.Errorf("freed %+v, which was allocated as %+v", allocation, e))
		l.mu.Unlock()
		return device.ErrInvalidValue
	}
	delete(l.held, allocation.Pointer)
	l.mu.Unlock()
	return l.Resource.Free(allocation, further)
}

func (l *ledger) Trim(keep uint64) (uint64, error) {
	released := l.cached - min(keep, l.cached)
	l.cached -= released
	return released, nil
}

func (l *ledger) Close() error {
	l.closed++
	return l.Resource.Close()
}

// balance returns the number and bytes of the held allocations, and an error if the
// resource was misused.
func (l *ledger) balance() (blocks int, bytes uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.held {
		bytes += e.bytes
	}
	return len(l.held), bytes, l.wrong
}

func (l *ledger) requireEmpty(t require.TestingT) {
	blocks, bytes, err := l.balance()
	require.NoError(t, err)
	require.Zero(t, blocks, "blocks are held")
	require.Zero(t, bytes)
}

// eachBase runs f on every device with every resource that all devices support.
func eachBase(t *testing.T, f func(t *testing.T, dev *device.Device, foot *ledger)) {
	t.Helper()
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		pool, err := memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
		require.NoError(t, err)
		for name, resource := range map[string]memory.Resource{"driver": memory.NewDriverResource(dev), "pool": pool} {
			t.Run(name, func(t *testing.T) {
				foot := newLedger(resource)
				f(t, dev, foot)
				foot.requireEmpty(t)
			})
		}
		require.NoError(t, dev.Synchronize(t.Context()))
		require.NoError(t, pool.Close())
	})
}

func newStream(t testing.TB, dev *device.Device) *device.Stream {
	t.Helper()
	stream, err := dev.NewStream()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stream.Close()) })
	return stream
}

func fill(t require.TestingT, allocation resource.Allocation, stream *device.Stream, value uint8) {
	require.NoError(t, stream.Enqueue(func(handle backend.Stream) error {
		return stream.Device().Driver().MemsetAsync(allocation.Pointer, uint32(value), 1, allocation.Bytes, handle)
	}))
}

// contents waits for the streams and reads the memory.
func contents(t require.TestingT, pointer device.Pointer, bytes uint64, streams ...*device.Stream) []byte {
	for _, stream := range streams {
		require.NoError(t, stream.Synchronize(context.Background()))
	}
	got := make([]byte, bytes)
	require.NoError(t, streams[0].Device().Driver().CopyToHost(unsafe.Pointer(&got[0]), pointer, bytes))
	return got
}

// all reports whether every byte equals the value.
func all(contents []byte, value uint8) bool {
	for _, got := range contents {
		if got != value {
			return false
		}
	}
	return true
}
