package host

import (
	"sync"
	"unsafe"

	"github.com/tidwall/btree"

	"github.com/gpuframe/gpuframe/device/backend"
)

// allocation is memory that this package allocated. Only retired changes.
type allocation struct {
	memory unsafe.Pointer
	bytes  uint64
	kind   backend.MemoryKind
	// ordinal is the number of the device that allocated the memory.
	ordinal int
	pool    *pool // nil if the memory is not from a pool
	// retired is set when the memory is passed to a free that must wait for earlier
	// work. The inventory's lock protects it.
	retired bool
}

func (a *allocation) base() uintptr { return uintptr(a.memory) }

// inventory lists the memory that this package has allocated in the process, by
// address.
type inventory struct {
	mu          sync.Mutex
	allocations btree.Map[uintptr, *allocation]
	// registrations holds sizes. They are separate from the allocations, because the
	// owner of registered memory can free it, and its addresses can be reused, without
	// a call of this package.
	registrations btree.Map[uintptr, uint64]
}

// system is shared by the whole process, because the memory of the machine is: every
// Device knows and may free the allocations of others, and memory outlives the Device
// that allocated it.
var system inventory

func (i *inventory) add(a *allocation) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.allocations.Set(a.base(), a)
}

// remove removes an allocation. Call it before freeing the memory, because the address
// can be reused from then on.
func (i *inventory) remove(a *allocation) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.allocations.Delete(a.base())
}

// retire reserves an allocation for the caller to free. It returns nil if no allocation
// of that kind begins at the address, or if another caller is freeing it.
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

// find returns the allocation that contains an address, or nil, and whether the
// allocation is retired.
func (i *inventory) find(address uintptr) (a *allocation, retired bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	base, a, ok := atOrBelow(&i.allocations, address)
	if !ok || uint64(address-base) >= a.bytes {
		return nil, false
	}
	return a, a.retired
}

// register lists foreign memory. It returns false if any part of it is already listed,
// registered or allocated.
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

// atOrBelow returns the entry with the greatest key that is at most the given one.
func atOrBelow[V any](m *btree.Map[uintptr, V], key uintptr) (k uintptr, v V, ok bool) {
	m.Descend(key, func(foundKey uintptr, foundValue V) bool {
		k, v, ok = foundKey, foundValue, true
		return false
	})
	return k, v, ok
}
