package host

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host/internal/vmem"
)

// space records the reserved addresses and the physical memory that is mapped there.
// Like the inventory of allocations, one space serves the whole process.
type space struct {
	mu sync.RWMutex
	// reserved counts the reservations, so that a process without any pays for one
	// atomic load when addresses are checked.
	reserved     atomic.Int64
	reservations btree.Map[uintptr, uint64] // bytes by address
	mappings     btree.Map[uintptr, *mapping]
	physicals    map[backend.Physical]*physical
	last         backend.Physical
	committed    uint64 // bytes of all physical memory
}

// physical is memory that exists while it has a handle or a mapping.
type physical struct {
	memory vmem.Memory
	bytes  uint64
	// ordinal is the number of the device that made or imported the memory.
	ordinal int
	// imported memory counts in the process that created it.
	imported bool
	// uses counts the handle and the mappings.
	uses int
}

// mapping is a range of addresses with memory.
type mapping struct {
	bytes                uint64
	physical             *physical
	accessible, writable bool
	// ending is set while an Unmap waits for earlier work.
	ending bool
}

var addresses space

// misuse is an error of the caller. All other errors of a space come from the system.
type misuse string

func (m misuse) Error() string { return string(m) }

func misused(format string, arguments ...any) error { return misuse(fmt.Sprintf(format, arguments...)) }

// whole returns an error unless the range consists of whole units.
func whole(base uintptr, bytes uint64) error {
	switch {
	case base == 0:
		return misused("the address is zero")
	case bytes == 0:
		return misused("0 bytes: pass at least one unit of %d", vmem.Granularity)
	case uint64(base)%vmem.Granularity != 0 || bytes%vmem.Granularity != 0:
		return misused("%d bytes at %#x: both must be multiples of %d", bytes, base, vmem.Granularity)
	case uint64(base)+bytes-1 < uint64(base):
		return misused("%d bytes at %#x run past the end of the address space", bytes, base)
	}
	return nil
}

func (s *space) reserve(bytes, alignment uint64) (uintptr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	base, err := vmem.Reserve(bytes, max(alignment, vmem.Granularity))
	if err != nil {
		return 0, err
	}
	s.reservations.Set(base, bytes)
	s.reserved.Add(1)
	return base, nil
}

func (s *space) free(base uintptr, bytes uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	reserved, ok := s.reservations.Get(base)
	if !ok || reserved != bytes {
		return misused("%d bytes at %#x are not a reservation: free a whole reservation", bytes, base)
	}
	if at, _, ok := s.mapped(base, bytes); ok {
		return misused("%#x, in the reservation of %d bytes at %#x, is mapped: unmap it first", at, bytes, base)
	}
	if err := vmem.Free(base, bytes); err != nil {
		return err
	}
	s.reservations.Delete(base)
	s.reserved.Add(-1)
	return nil
}

// mapped returns the last mapping that overlaps a range.
func (s *space) mapped(base uintptr, bytes uint64) (uintptr, *mapping, bool) {
	at, m, ok := atOrBelow(&s.mappings, base+uintptr(bytes-1))
	if !ok || uint64(at)+m.bytes <= uint64(base) {
		return 0, nil, false
	}
	return at, m, true
}

// create makes physical memory, in total at most limit bytes. A limit of zero means no
// limit.
func (s *space) create(ordinal int, bytes, limit uint64, from func(bytes uint64) (vmem.Memory, error)) (backend.Physical, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit != 0 && (bytes > limit || s.committed > limit-bytes) {
		return 0, fmt.Errorf("the machine has %d, and %d are made already", limit, s.committed)
	}
	memory, err := from(bytes)
	if err != nil {
		return 0, err
	}
	s.committed += bytes
	return s.add(&physical{memory: memory, bytes: bytes, ordinal: ordinal, uses: 1}), nil
}

func (s *space) add(p *physical) backend.Physical {
	if s.physicals == nil {
		s.physicals = make(map[backend.Physical]*physical)
	}
	s.last++
	s.physicals[s.last] = p
	return s.last
}

func (s *space) release(handle backend.Physical) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.physicals[handle]
	if !ok {
		return misused("physical memory %d does not belong to this device or was released", handle)
	}
	// The system keeps the memory for its mappings, and the handle is gone even if
	// closing returns an error.
	delete(s.physicals, handle)
	s.drop(p)
	return p.memory.Close()
}

func (s *space) drop(p *physical) {
	p.uses--
	if p.uses == 0 && !p.imported {
		s.committed -= p.bytes
	}
}

func (s *space) attach(base uintptr, bytes, offset uint64, handle backend.Physical) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.physicals[handle]
	if !ok {
		return misused("physical memory %d does not belong to this device or was released", handle)
	}
	if offset%vmem.Granularity != 0 || offset > p.bytes || bytes > p.bytes-offset {
		return misused("%d bytes at offset %d: the physical memory has %d, in units of %d", bytes, offset, p.bytes, vmem.Granularity)
	}
	reservation, reserved, ok := atOrBelow(&s.reservations, base)
	if !ok || uint64(base-reservation) >= reserved || bytes > reserved-uint64(base-reservation) {
		return misused("%d bytes at %#x are not within one reservation", bytes, base)
	}
	if at, m, ok := s.mapped(base, bytes); ok {
		return misused("%d bytes at %#x are already mapped", m.bytes, at)
	}
	if err := p.memory.Map(base, bytes, offset); err != nil {
		return err
	}
	s.mappings.Set(base, &mapping{bytes: bytes, physical: p})
	p.uses++
	return nil
}

// permit makes whole mappings readable and, if writing is true, writable.
func (s *space) permit(base uintptr, bytes uint64, writing bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var covered []*mapping
	for at, left := base, bytes; left > 0; {
		m, ok := s.mappings.Get(at)
		if !ok || m.ending || m.bytes > left {
			return misused("%d bytes at %#x are not whole adjacent mappings", bytes, base)
		}
		if writing && m.physical.memory.ReadOnly() {
			return misused("the memory at %#x was exported for reading only", at)
		}
		covered = append(covered, m)
		at, left = at+uintptr(m.bytes), left-m.bytes
	}
	if err := vmem.Access(base, bytes, writing); err != nil {
		return err
	}
	for _, m := range covered {
		m.accessible, m.writable = true, writing
	}
	return nil
}

// end reserves a mapping for the caller to detach. New work cannot use it from then on.
func (s *space) end(base uintptr, bytes uint64) (*mapping, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.mappings.Get(base)
	if !ok || m.ending || m.bytes != bytes {
		return nil, misused("%d bytes at %#x are not a mapping: unmap a whole mapping", bytes, base)
	}
	m.ending = true
	return m, nil
}

func (s *space) detach(base uintptr, m *mapping) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := vmem.Unmap(base, m.bytes); err != nil {
		m.ending = false
		return err
	}
	s.mappings.Delete(base)
	s.drop(m.physical)
	return nil
}

// find returns the accessible mapping that contains an address.
func (s *space) find(address uintptr) (base uintptr, bytes uint64, ok bool) {
	if s.reserved.Load() == 0 {
		return 0, 0, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	base, m, ok := s.accessible(address)
	if !ok {
		return 0, 0, false
	}
	return base, m.bytes, true
}

// owner returns the number of the device with the accessible mapping that contains an
// address.
func (s *space) owner(address uintptr) (ordinal int, ok bool) {
	if s.reserved.Load() == 0 {
		return 0, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, m, ok := s.accessible(address)
	if !ok {
		return 0, false
	}
	return m.physical.ordinal, true
}

// accessible is find for callers that hold the lock.
func (s *space) accessible(address uintptr) (uintptr, *mapping, bool) {
	base, m, ok := atOrBelow(&s.mappings, address)
	return base, m, ok && uint64(address-base) < m.bytes && m.accessible && !m.ending
}

// usable reports whether an address is reserved, and how many of the bytes from there
// can be read, or written, without a gap.
func (s *space) usable(address uintptr, bytes uint64, writing bool) (count uint64, reserved bool) {
	if s.reserved.Load() == 0 {
		return 0, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	reservation, size, ok := atOrBelow(&s.reservations, address)
	if !ok || uint64(address-reservation) >= size {
		return 0, false
	}
	for count < bytes {
		base, m, ok := s.accessible(address + uintptr(count))
		if !ok || writing && !m.writable {
			break
		}
		count = min(bytes, uint64(base)+m.bytes-uint64(address))
	}
	return count, true
}

// overlaps reports whether a range shares an address with a reservation.
func (s *space) overlaps(base uintptr, bytes uint64) bool {
	if s.reserved.Load() == 0 {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	reservation, size, ok := atOrBelow(&s.reservations, base+uintptr(bytes-1))
	return ok && uint64(reservation)+size > uint64(base)
}

// abandon frees everything that no address refers to: handles, and reservations without
// mappings.
func (s *space) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for handle, p := range s.physicals {
		delete(s.physicals, handle)
		s.drop(p)
		_ = p.memory.Close() // the system frees it when the process ends
	}
	for _, base := range s.reservations.Keys() {
		bytes, _ := s.reservations.Get(base)
		if _, _, ok := s.mapped(base, bytes); ok {
			continue
		}
		if vmem.Free(base, bytes) == nil {
			s.reservations.Delete(base)
			s.reserved.Add(-1)
		}
	}
}
