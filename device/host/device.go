package host

import (
	"sync"
	"sync/atomic"

	"github.com/pbnjay/memory"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host/internal/vmem"
)

// device implements backend.Device: one opening of the machine.
type device struct {
	info   backend.Info
	closed atomic.Bool
	*state
}

var _ backend.Device = (*device)(nil)

// state is what all Devices that are open at a time have in common, as they have
// the primary context on CUDA: a stream or an event of one is good for another.
// Its locks are those of its tables, streams, marks and pools.
type state struct {
	// openings counts the Devices; the guard of the current state guards it.
	openings int

	// unfinished counts the operations enqueued on all streams and not yet
	// done. It lets Free skip looking at each stream.
	unfinished atomic.Int64

	defaultStream *stream
	defaultPool   *pool
	streams       table[backend.Stream, *stream]
	events        table[backend.Event, *event]
	pools         table[backend.Pool, *pool]

	// detached holds the streams that were destroyed with work still to do.
	detachedMu sync.Mutex
	detached   map[*stream]struct{}
}

// current is the state of the Devices that are open now, nil while none is.
var current struct {
	sync.Mutex
	*state
}

func newDevice() *device {
	current.Lock()
	defer current.Unlock()
	if current.state == nil {
		s := &state{defaultPool: newPool(0), detached: make(map[*stream]struct{})}
		s.defaultStream = newStream(&s.unfinished)
		current.state = s
	}
	current.openings++
	return &device{info: describe(), state: current.state}
}

// leave ends one opening and reports whether it was the last.
func (s *state) leave() bool {
	current.Lock()
	defer current.Unlock()
	s.openings--
	if s.openings > 0 {
		return false
	}
	current.state = nil
	// Under the lock, so that nothing is taken from a Device opened next.
	addresses.abandon()
	return true
}

func (d *device) Info() backend.Info { return d.info }

func (d *device) check(operation string) error {
	if d.closed.Load() {
		return failure(operation, backend.ErrClosed, "the device was closed")
	}
	return nil
}

// MemoryInfo reports what the operating system counts as free, which leaves
// out the caches it would give up.
func (d *device) MemoryInfo() (free, total uint64, err error) {
	if err := d.check("MemoryInfo"); err != nil {
		return 0, 0, err
	}
	return min(memory.FreeMemory(), d.info.TotalMemory), d.info.TotalMemory, nil
}

// Attribute answers those attributes that mean something for a processor.
func (d *device) Attribute(attribute backend.Attribute) (int, error) {
	if err := d.check("Attribute"); err != nil {
		return 0, err
	}
	switch attribute {
	case backend.MultiprocessorCount:
		return d.info.Multiprocessors, nil
	case backend.CanMapHostMemory, backend.UnifiedAddressing, backend.PageableMemoryAccess,
		backend.MemoryPoolsSupported, backend.ManagedMemory, backend.ConcurrentManagedAccess:
		return 1, nil
	case backend.ComputeCapabilityMajor, backend.ComputeCapabilityMinor:
		return 0, nil
	case backend.VirtualMemoryManagement:
		return truth(vmem.Supported()), nil
	case backend.SharesByDescriptor:
		return truth(vmem.CanShare()), nil
	}
	return 0, failure("Attribute", backend.ErrNotSupported, "attribute %d has no meaning on the host", attribute)
}

// truth is an answer as attributes give it.
func truth(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Synchronize waits for the work enqueued before the call, on every stream,
// destroyed ones included.
func (d *device) Synchronize() error {
	if err := d.check("Synchronize"); err != nil {
		return err
	}
	d.waitForAll()
	return nil
}

func (d *device) waitForAll() {
	if d.unfinished.Load() == 0 {
		return
	}
	var marks []*mark
	for _, s := range d.everyStream() {
		if m := s.tail(); m != nil {
			marks = append(marks, m)
		}
	}
	for _, m := range marks {
		m.wait()
	}
}

func (d *device) everyStream() []*stream {
	// A stream being destroyed is added to detached before it leaves the table,
	// so reading the table first finds it in one of the two.
	streams := append(d.streams.all(), d.defaultStream)
	d.detachedMu.Lock()
	defer d.detachedMu.Unlock()
	for s := range d.detached {
		streams = append(streams, s)
	}
	return streams
}

// Close waits for what is enqueued and frees no memory that has an address. With
// the last Device the streams end, and physical memory and reservations that no
// mapping uses go back to the system.
func (d *device) Close() error {
	if !d.closed.CompareAndSwap(false, true) {
		return failure("Close", backend.ErrClosed, "the device was closed before")
	}
	if !d.leave() {
		d.waitForAll()
		return nil
	}
	var marks []*mark
	for _, s := range d.everyStream() {
		if m := s.close(); m != nil {
			marks = append(marks, m)
		}
	}
	for _, m := range marks {
		m.wait()
	}
	return nil
}
