package pinned

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
)

// pools end with their devices: page-locked memory belongs to the device's context.
var pools perdevice.Cache[*Pool]

// Pool has the page-locked memory of one device. Pinning memory takes the driver about
// 0.4 ms for each MiB, so buffers that are put back stay pinned for every later user,
// until Trim. The pool is safe for concurrent use. It holds no lock while it pins or unpins
// memory, only while it queries events of pending buffers.
type Pool struct {
	device *device.Device

	mu sync.Mutex
	// limit is the largest number of pinned bytes, or 0 without a limit.
	limit         uint64
	pinned, inUse uint64
	lines         *class
	// shared has the classes of buffers that share slabs, separate the others, by size.
	shared, separate map[uint64]*class
	// wholes are the slabs of separate, by their address.
	wholes map[unsafe.Pointer]*slab
	// pending are buffers that the device may still access.
	pending []pendingBuffer
}

// pendingBuffer is put back when the event has completed.
type pendingBuffer struct {
	Buffer
	event *device.Event
}

// Of returns the pool of a device.
func Of(dev *device.Device) (*Pool, error) {
	return pools.Get(dev, newPool)
}

func newPool(dev *device.Device) (*Pool, error) {
	return &Pool{
		device: dev, lines: &class{bytes: Line, next: firstLines},
		shared: map[uint64]*class{}, separate: map[uint64]*class{}, wholes: map[unsafe.Pointer]*slab{},
	}, nil
}

// Take returns a buffer of at least the given size, aligned to 64 bytes. Its contents
// are undefined.
//
// # Errors
//
// The error wraps [device.ErrOutOfMemory] if the limit is reached or the driver cannot
// pin more memory.
func (p *Pool) Take(bytes uint64) (Buffer, error) {
	p.mu.Lock()
	if len(p.pending) > 0 {
		p.collect()
	}
	c := p.lines
	if bytes > Line {
		c = p.class(Round(bytes))
	}
	return p.take(c)
}

// TakeWhole returns a buffer of exactly the given size that shares its slab with no
// other buffer, so that Unpin unpins it. The errors are those of Take.
func (p *Pool) TakeWhole(bytes uint64) (Buffer, error) {
	p.mu.Lock()
	return p.take(p.separately(bytes))
}

// class returns the class of a rounded size above a line. The caller holds mu.
func (p *Pool) class(bytes uint64) *class {
	if bytes > largestShared {
		return p.separately(bytes)
	}
	c := p.shared[bytes]
	if c == nil {
		c = newShared(bytes)
		p.shared[bytes] = c
	}
	return c
}

// separately returns the class of buffers with separate slabs. The caller holds mu.
func (p *Pool) separately(bytes uint64) *class {
	c := p.separate[bytes]
	if c == nil {
		c = newWhole(bytes)
		p.separate[bytes] = c
	}
	return c
}

// take takes a buffer of the class and unlocks mu, which the caller holds.
func (p *Pool) take(c *class) (Buffer, error) {
	if b, ok := p.pop(c); ok {
		p.mu.Unlock()
		return b, nil
	}
	p.mu.Unlock()
	if !c.whole {
		c.pinning.Lock()
		defer c.pinning.Unlock()
		p.mu.Lock()
		b, ok := p.pop(c) // another caller has pinned a slab
		p.mu.Unlock()
		if ok {
			return b, nil
		}
	}
	return p.pin(c)
}

// pop takes an idle buffer. The caller holds mu.
func (p *Pool) pop(c *class) (Buffer, bool) {
	b, ok := c.pop()
	if ok {
		p.inUse += c.bytes
	}
	return b, ok
}

// pin pins another slab and takes a buffer from it.
func (p *Pool) pin(c *class) (Buffer, error) {
	bytes := c.next
	if err := p.reserve(bytes); err != nil {
		return Buffer{}, err
	}
	pointer, err := p.device.Driver().HostAlloc(bytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.pinned -= bytes
		return Buffer{}, err
	}
	s := &slab{class: c, pointer: pointer, bytes: bytes}
	c.add(s)
	switch {
	case c.whole:
		p.wholes[pointer] = s
	case c == p.lines:
		c.next = min(linesGrowth*c.next, slabBytes)
	default:
		c.next = min(sharedGrowth*c.next, slabBytes)
	}
	b, _ := p.pop(c)
	return b, nil
}

// reserve counts a slab that is about to be pinned. At the limit it unpins idle memory
// first.
func (p *Pool) reserve(bytes uint64) error {
	for {
		p.mu.Lock()
		limit, pinned, inUse := p.limit, p.pinned, p.inUse
		if limit == 0 || bytes <= limit && pinned <= limit-bytes {
			p.pinned += bytes
			p.mu.Unlock()
			return nil
		}
		p.mu.Unlock()
		released := uint64(0)
		var err error
		if bytes <= limit {
			released, err = p.Trim(limit - bytes)
		}
		if released == 0 {
			return errors.Join(err, fmt.Errorf(
				"page-locked memory of %s: %s more exceed the limit of %s: %s are pinned, %s of them in use; set a higher limit with memory.LimitPinned: %w",
				p.device, humanize.IBytes(bytes), humanize.IBytes(limit), humanize.IBytes(pinned), humanize.IBytes(inUse), device.ErrOutOfMemory))
		}
	}
}

// Put puts a buffer back. The device must have finished with it.
func (p *Pool) Put(b Buffer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(b)
}

// put is Put for a caller that holds mu.
func (p *Pool) put(b Buffer) {
	c := b.slab.class
	b.slab.live--
	p.inUse -= c.bytes
	c.free = append(c.free, b)
}

// PutAfter puts a buffer back when the event has completed, without a wait. The event
// then belongs to the pool.
func (p *Pool) PutAfter(b Buffer, event *device.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = append(p.pending, pendingBuffer{b, event})
}

// collect puts back the buffers with completed events. The caller holds mu.
func (p *Pool) collect() {
	kept := p.pending[:0]
	for _, w := range p.pending {
		if done, err := w.event.Done(); err != nil || !done {
			kept = append(kept, w)
			continue
		}
		_ = w.event.Close() // the event has completed, so an error loses nothing
		p.put(w.Buffer)
	}
	clear(p.pending[len(kept):])
	p.pending = kept
}
