package host

import "github.com/gpuframe/gpuframe/device/backend"

// AllocManaged returns ordinary memory that PointerInfo calls managed, so that
// code which treats managed memory apart can be exercised.
func (d *device) AllocManaged(bytes uint64) (backend.Pointer, error) {
	if err := d.check("AllocManaged"); err != nil {
		return 0, err
	}
	a, err := d.allocate("AllocManaged", bytes, backend.MemoryManaged, nil)
	if err != nil {
		return 0, err
	}
	return backend.Pointer(a.base()), nil
}

// PrefetchAsync checks its arguments and leaves the memory where it is, which is
// near the processor and the device alike.
func (d *device) PrefetchAsync(pointer backend.Pointer, bytes uint64, _ bool, onStream backend.Stream) error {
	const operation = "PrefetchAsync"
	if _, err := d.stream(operation, onStream); err != nil {
		return err
	}
	if bytes == 0 {
		return invalid(operation, "0 bytes: ask for at least one")
	}
	if a, _ := system.find(uintptr(pointer)); a == nil || a.kind != backend.MemoryManaged {
		return invalid(operation, "pointer %v lies in no managed memory", pointer)
	}
	return checkRange(operation, "pointer", address(pointer), bytes, false)
}
