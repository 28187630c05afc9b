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
	driver Driver
	closed atomic.Bool
	*state
}

var _ backend.Device = (*device)(nil)

// state is shared by all Devices that are open at a time, as they share the primary
// context on CUDA: a stream or an event of one is valid for another. Devices of
// different ordinals share it too. Its tables, streams, marks and pools have their own
// locks.
type state struct {
	// openings counts the Devices. The lock of current protects it.
	openings int

	// unfinished counts the enqueued operations of all streams that are not done. It
	// lets Free skip the check of each stream.
	unfinished atomic.Int64

	defaultStream *stream
	defaultPool   *pool
	streams       table[backend.Stream, *stream]
	events        table[backend.Event, *event]
	pools         table[backend.Pool, *pool]

	// detached holds the streams that were destroyed with unfinished work.
	detachedMu sync.Mutex
	detached   map[*stream]struct{}
}

// current is the state of the open Devices, nil if none is open.
var current struct {
	sync.Mutex
	*state
}

func newDevice(driver Driver, ordinal int) *device {
	current.Lock()
	defer current.Unlock()
	if current.state == nil {
		s := &state{defaultPool: newPool(0), detached: make(map[*stream]struct{})}
		s.defaultStream = newStream(&s.unfinished)
		current.state = s
	}
	current.openings++
	return &device{info: describe(ordinal), driver: driver, state: current.state}
}

// leave removes one opening and reports whether it was the last.
func (s *state) leave() bool {
	current.Lock()
	defer current.Unlock()
	s.openings--
	if s.openings > 0 {
		return false
	}
	current.state = nil
	// The lock is held, so that the memory of a Device opened next is not abandoned.
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

// MemoryInfo reports the free memory of the operating system, without the caches that
// it could drop.
func (d *device) MemoryInfo() (free, total uint64, err error) {
	if err := d.check("MemoryInfo"); err != nil {
		return 0, 0, err
	}
	return min(memory.FreeMemory(), d.info.TotalMemory), d.info.TotalMemory, nil
}

// Attribute returns the attributes that are defined for a processor.
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

// truth converts a boolean to an attribute's value.
func truth(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Synchronize waits for the work enqueued before the call on every stream, including
// destroyed ones.
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
	// StreamDestroy adds a stream to detached before it removes it from the table, so
	// reading the table first finds the stream in one of the two.
	streams := append(d.streams.all(), d.defaultStream)
	d.detachedMu.Lock()
	defer d.detachedMu.Unlock()
	for s := range d.detached {
		streams = append(streams, s)
	}
	return streams
}

// Close waits for enqueued work and frees no memory that has an address. Closing the
// last Device ends the streams and frees physical memory and reservations without
// mappings.
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
