package drivercall

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Call returns a driver's function with the arguments that identify the call, as in
// "cuMemAlloc(1.0 GiB)"; an empty detail leaves the name alone.
func Call(function, detail string) string {
	if detail == "" {
		return function
	}
	return function + "(" + detail + ")"
}

// Needs returns the remedy for a function that the driver lacks: the version is
// 1000·major + 10·minor.
func Needs(version int) string {
	return fmt.Sprintf("it needs a driver for CUDA %d.%d or newer", version/1000, version%1000/10)
}

// Size identifies a call by its bytes.
func Size(bytes uint64) string { return humanize.IBytes(bytes) }

// At identifies a call by its range of addresses.
func At(at backend.Pointer, bytes uint64) string { return Size(bytes) + " at " + at.String() }

// ToShare identifies an allocation of shared memory by its bytes.
func ToShare(bytes uint64) string { return Size(bytes) + " to share" }

// ForReading identifies a read-only mapping by its range of addresses.
func ForReading(at backend.Pointer, bytes uint64) string { return At(at, bytes) + ", for reading" }

// Reservation identifies a reservation of addresses.
func Reservation(bytes, alignment uint64) string {
	return fmt.Sprintf("%s, alignment %d", Size(bytes), alignment)
}

// PoolMaximum identifies a new pool.
func PoolMaximum(maximum uint64) string { return "maximum " + Size(maximum) }

// Device identifies a call by the number of a device.
func Device(ordinal int) string { return fmt.Sprintf("device %d", ordinal) }

// Pair identifies a call by the numbers of two devices.
func Pair(device, peer int) string { return fmt.Sprintf("device %d, peer %d", device, peer) }

// PoolAccess identifies a change of a pool's access by the numbers of two devices.
func PoolAccess(device, peer int) string { return "pool of " + Pair(device, peer) }

// Attribute identifies a call by the number of an attribute.
func Attribute[a ~int | ~int32](attribute a) string { return fmt.Sprintf("attribute %d", attribute) }

// Setting identifies a call by the number of an attribute and its new value.
func Setting[a ~int | ~int32, v int | uint64](attribute a, value v) string {
	return fmt.Sprintf("attribute %d, value %d", attribute, value)
}

// Parameter identifies a question for a kernel's parameter.
func Parameter(index int) string { return fmt.Sprintf("parameter %d", index) }

// Descriptor identifies an import of shared memory.
func Descriptor(descriptor int) string { return fmt.Sprintf("descriptor %d", descriptor) }

// Block identifies a question for the occupancy of a kernel.
func Block(threads int, sharedBytes uint32) string {
	return fmt.Sprintf("%d threads, %d bytes shared", threads, sharedBytes)
}

// Text identifies a launch.
func (s Shape) Text(sharedBytes uint32) string {
	return fmt.Sprintf("grid %dx%dx%d, block %dx%dx%d, %d bytes shared", s[0], s[1], s[2], s[3], s[4], s[5], sharedBytes)
}

// NotInAllocation is the detail for an address that the driver does not know.
const NotInAllocation = "the address lies in no allocation of the driver's"

// Unavailable returns an error that wraps [backend.ErrNotAvailable].
func Unavailable(name, format string, arguments ...any) error {
	return fmt.Errorf(name+": "+format+": %w", append(arguments, backend.ErrNotAvailable)...)
}

// CheckCount checks the driver's number of devices; failure is the error of asking for it.
func CheckCount(name string, count int, failure error) error {
	if failure != nil {
		return Unavailable(name, "the devices could not be counted: %w", failure)
	}
	if count == 0 {
		return Unavailable(name, "the driver shows this process no device; CUDA_VISIBLE_DEVICES may hide them")
	}
	return nil
}

// MissingDevice returns the error for a number that no device has.
func MissingDevice(name string, ordinal, count int) error {
	return fmt.Errorf("%s: no device %d: the driver shows this process %d, numbered from 0: %w", name, ordinal, count, backend.ErrNoDevice)
}
