package replay_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor/trace"
	"github.com/gpuframe/gpuframe/memory/replay"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// ledger is a resource that records its requests and refuses those larger than a
// limit.
type ledger struct {
	memory.Resource
	limit   uint64
	failure error // of every free, if set
	lost    bool

	mu    sync.Mutex
	calls []string
	live  map[device.Pointer]uint64
}

func newLedger(dev *device.Device) *ledger {
	return &ledger{Resource: memory.NewDriverResource(dev), limit: 1 << 30, live: map[device.Pointer]uint64{}}
}

func (l *ledger) Upstream() memory.Resource { return l.Resource }

func (l *ledger) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost {
		return resource.Allocation{}, fmt.Errorf("ledger: %w", device.ErrDeviceLost)
	}
	if bytes > l.limit {
		return resource.Allocation{}, fmt.Errorf("ledger: %d bytes: %w", bytes, device.ErrOutOfMemory)
	}
	allocation, err := l.Resource.Allocate(bytes, stream)
	if err == nil {
		l.calls = append(l.calls, fmt.Sprintf("+%d", bytes))
		l.live[allocation.Pointer] = bytes
	}
	return allocation, err
}

func (l *ledger) Free(allocation resource.Allocation, further []*device.Stream) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	note := fmt.Sprintf("-%d", allocation.Bytes)
	if len(further) > 0 {
		note += " further"
	}
	l.calls = append(l.calls, note)
	delete(l.live, allocation.Pointer)
	if err := l.Resource.Free(allocation, further); err != nil {
		return err
	}
	return l.failure
}

// logOf builds a log from lines without times: thread, action, pointer, size,
// stream.
func logOf(lines ...string) string {
	var b strings.Builder
	b.WriteString(trace.Header + "\n")
	for i, line := range lines {
		thread, rest, _ := strings.Cut(line, ",")
		fmt.Fprintf(&b, "%s,12:00:00.%06d,%s\n", thread, i, rest)
	}
	return b.String()
}

func load(t testing.TB, lines ...string) *replay.Log {
	t.Helper()
	log, err := replay.Load(trace.Read(strings.NewReader(logOf(lines...))))
	require.NoError(t, err)
	return log
}

func player(t testing.TB, log *replay.Log, resource memory.Resource, options replay.Options) *replay.Player {
	t.Helper()
	p, err := replay.NewPlayer(log, resource, options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}
