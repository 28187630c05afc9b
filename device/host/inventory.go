package host

import (
	"sync"
	"unsafe"

	"github.com/tidwall/btree"

	"github.com/gpuframe/gpuframe/device/backend"
)

// allocation is memory that this package made. All fields but retired are
// fixed.
type allocation struct {
	memory unsafe.Pointer
	bytes  uint64
	kind   backend.MemoryKind
	pool   *pool // nil where the memory is not from a pool
	// retired is set once the memory was given to a free that has to wait for
	// earlier work. It is guarded by the inventory's lock.
	retired bool
}

func (a *allocation) base() uintptr { return uintptr(a.memory) }

// inventory lists the memory that a process has from this package, by address.
type inventory struct {
	mu          sync.Mutex
	allocations btree.Map[uintptr, *allocation]
	// registrations holds sizes. They are apart from the allocations because
	// registered memory can be freed by its owner, and its addresses be given
	// out anew, without a word to this package.
	registrations btree.Map[uintptr, uint64]
}

// system is one for the process because the memory of the machine is: every
// Device on it knows and may free what another allocated, and memory outlives
// the Device that made it.
var system inventory

func (i *inventory) add(a *allocation) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.allocations.Set(a.base(), a)
}

// remove ends an allocation's time in the list. It comes before the memory is
// freed, for the same address may be given out from then on.
func (i *inventory) remove(a *allocation) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.allocations.Delete(a.base())
}

// retire reserves an allocation for the caller to free. It returns nil where
// none of that kind begins at the address, or another caller is freeing it.
func (i *inventory) retire(base uintptr, kind backend.MemoryKind) *allocation {
	i.mu.Lock()
	defer i.mu.Unlock()
	a, ok := i.allocations.Get(base)
	if !ok || a.kind != kind || a.retired {
		return nil
	}
	a.retired = true
	return a
}

// unretire takes a retire back.
func (i *inventory) unretire(a *allocation) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a.retired = false
}

// find returns the allocation that an address lies in, nil where it lies in
// none, and whether the allocation is retired.
func (i *inventory) find(address uintptr) (a *allocation, retired bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	base, a, ok := atOrBelow(&i.allocations, address)
	if !ok || uint64(address-base) >= a.bytes {
		return nil, false
	}
	return a, a.retired
}

// register lists foreign memory. It returns false where any of it is listed
// already, as registered or as an allocation.
func (i *inventory) register(base uintptr, bytes uint64) bool {
	last := base + uintptr(bytes-1)
	i.mu.Lock()
	defer i.mu.Unlock()
	if b, a, ok := atOrBelow(&i.allocations, last); ok && uint64(b)+a.bytes > uint64(base) {
		return false
	}
	if b, n, ok := atOrBelow(&i.registrations, last); ok && uint64(b)+n > uint64(base) {
		return false
	}
	i.registrations.Set(base, bytes)
	return true
}

func (i *inventory) unregister(base uintptr) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	_, ok := i.registrations.Delete(base)
	return ok
}

func (i *inventory) registered(address uintptr) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	base, bytes, ok := atOrBelow(&i.registrations, address)
	return ok && uint64(address-base) < bytes
}

// atOrBelow returns the entry with the greatest key that is not above the
// given one.
func atOrBelow[V any](m *btree.Map[uintptr, V], key uintptr) (k uintptr, v V, ok bool) {
	m.Descend(key, func(foundKey uintptr, foundValue V) bool {
		k, v, ok = foundKey, foundValue, true
		return false
	})
	return k, v, ok
}
