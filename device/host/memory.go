package host

import (
	"math"
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host/internal/cmem"
)

// largestRequest is the user half of the address space of current 64-bit processors;
// the system cannot allocate more.
const largestRequest = 1 << 47

// allocate allocates and lists memory. Requests above the memory of the machine fail
// here: many systems would grant them and end the process later, when it first writes
// the memory.
func (d *device) allocate(operation string, bytes uint64, kind backend.MemoryKind, from *pool) (*allocation, error) {
	if bytes == 0 {
		return nil, invalid(operation, "0 bytes: pass at least 1")
	}
	total := d.info.TotalMemory
	if bytes > largestRequest || bytes > math.MaxInt-cmem.Alignment || total != 0 && bytes > total {
		return nil, failure(operation, backend.ErrOutOfMemory, "%d bytes: the machine has %d", bytes, total)
	}
	if from != nil && !from.reserve(bytes) {
		return nil, failure(operation, backend.ErrOutOfMemory, "%d bytes: the pool's maximum is %d", bytes, from.maximum)
	}
	memory := cmem.Allocate(bytes)
	if memory == nil {
		if from != nil {
			from.retire(bytes)
			from.release(bytes)
		}
		return nil, failure(operation, backend.ErrOutOfMemory, "%d bytes: the system refused them", bytes)
	}
	a := &allocation{memory: memory, bytes: bytes, kind: kind, ordinal: d.info.Ordinal, pool: from}
	system.add(a)
	return a, nil
}

// retire reserves an allocation for one free and subtracts it from the used bytes of
// its pool.
func retire(operation string, base uintptr, kind backend.MemoryKind) (*allocation, error) {
	a := system.retire(base, kind)
	if a == nil {
		return nil, invalid(operation, "pointer %#x does not begin a live allocation of %s memory", base, kind)
	}
	if a.pool != nil {
		a.pool.retire(a.bytes)
	}
	return a, nil
}

func unretire(a *allocation) {
	if a.pool != nil {
		a.pool.unretire(a.bytes)
	}
	system.unretire(a)
}

// release frees a retired allocation.
func release(a *allocation) {
	system.remove(a)
	cmem.Free(a.memory)
	if a.pool != nil {
		a.pool.release(a.bytes)
	}
}

func (d *device) Alloc(bytes uint64) (backend.Pointer, error) {
	if err := d.check("Alloc"); err != nil {
		return 0, err
	}
	a, err := d.allocate("Alloc", bytes, backend.MemoryHost, nil)
	if err != nil {
		return 0, err
	}
	return backend.Pointer(a.base()), nil
}

// Free also takes memory from AllocAsync.
func (d *device) Free(pointer backend.Pointer) error {
	kind := backend.MemoryHost
	if a, _ := system.find(uintptr(pointer)); a != nil && a.kind == backend.MemoryManaged {
		kind = backend.MemoryManaged
	}
	return d.freeNow("Free", uintptr(pointer), kind)
}

// freeNow waits for enqueued work first, because some of it may use the memory.
func (d *device) freeNow(operation string, base uintptr, kind backend.MemoryKind) error {
	if err := d.check(operation); err != nil {
		return err
	}
	a, err := retire(operation, base, kind)
	if err != nil {
		return err
	}
	d.waitForAll()
	release(a)
	return nil
}

// AllocAsync returns memory that can be used immediately. If the maximum of a pool
// leaves no room until pending frees have run, it waits for them.
func (d *device) AllocAsync(bytes uint64, from backend.Pool, onStream backend.Stream) (backend.Pointer, error) {
	if _, err := d.stream("AllocAsync", onStream); err != nil {
		return 0, err
	}
	p, err := d.pool("AllocAsync", from)
	if err != nil {
		return 0, err
	}
	a, err := d.allocate("AllocAsync", bytes, backend.MemoryHost, p)
	if err != nil {
		return 0, err
	}
	return backend.Pointer(a.base()), nil
}

// FreeAsync also takes memory from Alloc.
func (d *device) FreeAsync(pointer backend.Pointer, onStream backend.Stream) error {
	const operation = "FreeAsync"
	s, err := d.stream(operation, onStream)
	if err != nil {
		return err
	}
	a, err := retire(operation, uintptr(pointer), backend.MemoryHost)
	if err != nil {
		return err
	}
	if err := d.enqueue(operation, onStream, s, &step{run: func() { release(a) }}); err != nil {
		unretire(a)
		return err
	}
	return nil
}

func (d *device) HostAlloc(bytes uint64) (unsafe.Pointer, error) {
	if err := d.check("HostAlloc"); err != nil {
		return nil, err
	}
	a, err := d.allocate("HostAlloc", bytes, backend.MemoryPinned, nil)
	if err != nil {
		return nil, err
	}
	return a.memory, nil
}

func (d *device) HostFree(pointer unsafe.Pointer) error {
	return d.freeNow("HostFree", uintptr(pointer), backend.MemoryPinned)
}

// HostRegister only lists the memory. Memory of this package, and memory that is
// already registered in whole or in part, cannot be registered.
func (d *device) HostRegister(pointer unsafe.Pointer, bytes uint64) error {
	if err := d.check("HostRegister"); err != nil {
		return err
	}
	if err := wellFormed("HostRegister", "pointer", pointer, bytes); err != nil {
		return err
	}
	if bytes == 0 {
		return invalid("HostRegister", "0 bytes: pass at least 1")
	}
	if addresses.overlaps(uintptr(pointer), bytes) || !system.register(uintptr(pointer), bytes) {
		return invalid("HostRegister", "some of the %d bytes at %p are registered or allocated by this backend already", bytes, pointer)
	}
	return nil
}

func (d *device) HostUnregister(pointer unsafe.Pointer) error {
	if err := d.check("HostUnregister"); err != nil {
		return err
	}
	if !system.unregister(uintptr(pointer)) {
		return invalid("HostUnregister", "%p does not begin registered memory", pointer)
	}
	return nil
}

func (d *device) PointerInfo(pointer backend.Pointer) (backend.PointerInfo, error) {
	if err := d.check("PointerInfo"); err != nil {
		return backend.PointerInfo{}, err
	}
	if a, retired := system.find(uintptr(pointer)); a != nil && !retired {
		return backend.PointerInfo{Kind: a.kind, Ordinal: a.ordinal}, nil
	}
	if ordinal, ok := addresses.owner(uintptr(pointer)); ok {
		return backend.PointerInfo{Kind: backend.MemoryHost, Ordinal: ordinal}, nil
	}
	if system.registered(uintptr(pointer)) {
		return backend.PointerInfo{Kind: backend.MemoryPinned}, nil
	}
	return backend.PointerInfo{Kind: backend.MemoryUnknown, Ordinal: -1}, nil
}

func (d *device) AddressRange(pointer backend.Pointer) (base backend.Pointer, bytes uint64, err error) {
	if err := d.check("AddressRange"); err != nil {
		return 0, 0, err
	}
	if a, retired := system.find(uintptr(pointer)); a != nil && !retired {
		return backend.Pointer(a.base()), a.bytes, nil
	}
	if mapped, bytes, ok := addresses.find(uintptr(pointer)); ok {
		return backend.Pointer(mapped), bytes, nil
	}
	return 0, 0, invalid("AddressRange", "pointer %v lies in no live allocation", pointer)
}
