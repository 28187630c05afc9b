package host

import "github.com/gpuframe/gpuframe/device/backend"

// AllocManaged returns ordinary memory that PointerInfo reports as managed, so that
// tests cover code that treats managed memory differently.
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

// PrefetchAsync checks its arguments and does not move the memory, which is near the
// processor and the device alike.
func (d *device) PrefetchAsync(pointer backend.Pointer, bytes uint64, _ bool, onStream backend.Stream) error {
	const operation = "PrefetchAsync"
	if _, err := d.stream(operation, onStream); err != nil {
		return err
	}
	if bytes == 0 {
		return invalid(operation, "0 bytes: pass at least 1")
	}
	if a, _ := system.find(uintptr(pointer)); a == nil || a.kind != backend.MemoryManaged {
		return invalid(operation, "pointer %v is not in managed memory", pointer)
	}
	return checkRange(operation, "pointer", address(pointer), bytes, false)
}
