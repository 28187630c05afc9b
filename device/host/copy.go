package host

import (
	"math"
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
)

// wellFormed returns an error unless the arguments describe a range of memory. An empty
// range may begin anywhere.
func wellFormed(operation, field string, start unsafe.Pointer, bytes uint64) error {
	switch {
	case bytes == 0:
		return nil
	case start == nil:
		return invalid(operation, "%s: nil, with %d bytes", field, bytes)
	case bytes > math.MaxInt || uintptr(start)+uintptr(bytes-1) < uintptr(start):
		return invalid(operation, "%s: %d bytes at %p run past the end of the address space", field, bytes, start)
	}
	return nil
}

// checkRange returns an error for ranges that are not memory, as far as the backend
// knows: it knows its own memory exactly and trusts all other memory.
func checkRange(operation, field string, start unsafe.Pointer, bytes uint64, writing bool) error {
	if err := wellFormed(operation, field, start, bytes); err != nil || bytes == 0 {
		return err
	}
	a, retired := system.find(uintptr(start))
	if a == nil {
		return checkMapped(operation, field, start, bytes, writing)
	}
	if retired {
		return invalid(operation, "%s: %p was freed", field, start)
	}
	if left := a.bytes - uint64(uintptr(start)-a.base()); bytes > left {
		return invalid(operation, "%s: %d bytes at %p exceed the %d bytes left in the allocation", field, bytes, start, left)
	}
	return nil
}

// checkMapped returns an error for reserved addresses without memory, or with memory
// that does not permit the access: touching them would end the process.
func checkMapped(operation, field string, start unsafe.Pointer, bytes uint64, writing bool) error {
	usable, reserved := addresses.usable(uintptr(start), bytes, writing)
	if reserved && usable < bytes {
		need := "accessible"
		if writing {
			need = "writable"
		}
		return invalid(operation, "%s: %d bytes at %p, of which %d are mapped and %s", field, bytes, start, usable, need)
	}
	return nil
}

func (d *device) checkCopy(operation string, destination, source unsafe.Pointer, bytes uint64) error {
	if err := checkRange(operation, "destination", destination, bytes, true); err != nil {
		return err
	}
	return checkRange(operation, "source", source, bytes, false)
}

// copyNow copies in the calling goroutine, after the work of the default stream.
func (d *device) copyNow(operation string, destination, source unsafe.Pointer, bytes uint64) error {
	if err := d.check(operation); err != nil {
		return err
	}
	if err := d.checkCopy(operation, destination, source, bytes); err != nil {
		return err
	}
	d.defaultStream.wait()
	move(destination, source, bytes)
	return nil
}

// copyLater enqueues a copy. The step holds both pointers, which keeps Go memory
// reachable until the copy is done.
func (d *device) copyLater(operation string, destination, source unsafe.Pointer, bytes uint64, onStream backend.Stream) error {
	s, err := d.stream(operation, onStream)
	if err != nil {
		return err
	}
	if err := d.checkCopy(operation, destination, source, bytes); err != nil {
		return err
	}
	return d.enqueue(operation, onStream, s, &step{run: func() { move(destination, source, bytes) }})
}

func (d *device) CopyToDevice(destination backend.Pointer, source unsafe.Pointer, bytes uint64) error {
	return d.copyNow("CopyToDevice", address(destination), source, bytes)
}

func (d *device) CopyToHost(destination unsafe.Pointer, source backend.Pointer, bytes uint64) error {
	return d.copyNow("CopyToHost", destination, address(source), bytes)
}

func (d *device) CopyOnDevice(destination, source backend.Pointer, bytes uint64) error {
	return d.copyNow("CopyOnDevice", address(destination), address(source), bytes)
}

func (d *device) CopyToDeviceAsync(destination backend.Pointer, source unsafe.Pointer, bytes uint64, onStream backend.Stream) error {
	return d.copyLater("CopyToDeviceAsync", address(destination), source, bytes, onStream)
}

func (d *device) CopyToHostAsync(destination unsafe.Pointer, source backend.Pointer, bytes uint64, onStream backend.Stream) error {
	return d.copyLater("CopyToHostAsync", destination, address(source), bytes, onStream)
}

func (d *device) CopyOnDeviceAsync(destination, source backend.Pointer, bytes uint64, onStream backend.Stream) error {
	return d.copyLater("CopyOnDeviceAsync", address(destination), address(source), bytes, onStream)
}

// checkFill returns the number of bytes that a fill writes.
func checkFill(operation string, destination backend.Pointer, width int, count uint64) (bytes uint64, err error) {
	if width != 1 && width != 2 && width != 4 {
		return 0, invalid(operation, "width %d: pass 1, 2 or 4 bytes", width)
	}
	if count > math.MaxUint64/uint64(width) {
		return 0, invalid(operation, "count %d of width %d overflows", count, width)
	}
	if uintptr(destination)%uintptr(width) != 0 {
		return 0, invalid(operation, "destination %v is not aligned to the width %d", destination, width)
	}
	bytes = count * uint64(width)
	return bytes, checkRange(operation, "destination", address(destination), bytes, true)
}

func (d *device) Memset(destination backend.Pointer, value uint32, width int, count uint64) error {
	if err := d.check("Memset"); err != nil {
		return err
	}
	bytes, err := checkFill("Memset", destination, width, count)
	if err != nil {
		return err
	}
	d.defaultStream.wait()
	fill(address(destination), value, width, bytes)
	return nil
}

func (d *device) MemsetAsync(destination backend.Pointer, value uint32, width int, count uint64, onStream backend.Stream) error {
	const operation = "MemsetAsync"
	s, err := d.stream(operation, onStream)
	if err != nil {
		return err
	}
	bytes, err := checkFill(operation, destination, width, count)
	if err != nil {
		return err
	}
	target := address(destination)
	return d.enqueue(operation, onStream, s, &step{run: func() { fill(target, value, width, bytes) }})
}
