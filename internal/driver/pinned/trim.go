package pinned

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
)

// Unpin puts a buffer back and unpins its slab unless other buffers of it are in use.
// If the driver fails, the buffer still belongs to the caller.
func (p *Pool) Unpin(b Buffer) error {
	p.mu.Lock()
	p.put(b)
	s := b.slab
	if s.live > 0 {
		p.mu.Unlock()
		return nil
	}
	p.withdraw(s)
	p.mu.Unlock()
	return p.release(s, b)
}

// UnpinAt is Unpin for the address of a buffer of TakeWhole.
func (p *Pool) UnpinAt(pointer unsafe.Pointer) error {
	p.mu.Lock()
	s := p.wholes[pointer]
	p.mu.Unlock()
	if s == nil {
		return fmt.Errorf("page-locked memory of %s: %p is not in use: %w", p.device, pointer, device.ErrInvalidValue)
	}
	return p.Unpin(Buffer{pointer, s})
}

// withdraw removes an idle slab, which the caller then releases. The caller holds mu.
func (p *Pool) withdraw(s *slab) {
	s.class.remove(s)
	delete(p.wholes, s.pointer)
}

// release unpins a slab that was withdrawn. If that fails, the slab exists again, and
// the kept buffer of it is in use.
func (p *Pool) release(s *slab, kept Buffer) error {
	err := p.device.Driver().HostFree(s.pointer)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.pinned -= s.bytes
		return nil
	}
	s.class.add(s)
	if s.class.whole {
		p.wholes[s.pointer] = s
	}
	if kept.slab != nil {
		s.class.free = slices.DeleteFunc(s.class.free, func(b Buffer) bool { return b == kept })
		s.live++
		p.inUse += s.class.bytes
	}
	return err
}

// Trim unpins slabs without a buffer in use until at most keep bytes are pinned, and
// returns the number of bytes unpinned. It does not wait for work on the device.
func (p *Pool) Trim(keep uint64) (released uint64, err error) {
	var failures []error
	for _, s := range p.idle(keep) {
		if err := p.release(s, Buffer{}); err != nil {
			failures = append(failures, err)
			continue
		}
		released += s.bytes
	}
	return released, errors.Join(failures...)
}

// idle withdraws idle slabs until at most keep bytes are left.
func (p *Pool) idle(keep uint64) []*slab {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.collect()
	var idle []*slab
	left := p.pinned
	each := func(c *class) {
		for _, s := range c.slabs {
			if s.live == 0 && left > keep {
				idle = append(idle, s)
				left -= s.bytes
			}
		}
	}
	for _, c := range p.separate {
		each(c)
	}
	for _, c := range p.shared {
		each(c)
	}
	each(p.lines)
	for _, s := range idle {
		p.withdraw(s)
	}
	return idle
}

// Limit sets the largest number of pinned bytes; 0 removes the limit. Memory in use
// stays pinned.
func (p *Pool) Limit(bytes uint64) error {
	p.mu.Lock()
	p.limit = bytes
	p.mu.Unlock()
	if bytes == 0 {
		return nil
	}
	_, err := p.Trim(bytes)
	return err
}

// Stats are the statistics of a pool at one moment, in bytes.
type Stats struct {
	// Limit is the largest number of pinned bytes, or 0 without a limit. Pinned is the
	// current number, and InUse the part of it that users hold.
	Limit, Pinned, InUse uint64
}

// Stats returns the current statistics.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{p.limit, p.pinned, p.inUse}
}
