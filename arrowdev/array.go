package arrowdev

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/device"
)

// Array holds an exported array: an ArrowDeviceArray and its ArrowSchema in C memory.
// The exported memory lives until both release callbacks have run, here or at a
// consumer. An Array is safe for concurrent use.
type Array struct {
	mu sync.Mutex
	// shell is the memory of the two structs.
	shell  *cabi.Tree
	array  *cabi.DeviceArray
	schema *cabi.Schema
}

// newArray makes the memory of the structs and has fill write them.
func newArray(options []ExportOptions, fill func(a *Array, o ExportOptions) error) (*Array, error) {
	if !cabi.Available {
		return nil, notInThisBuild()
	}
	o, err := only(options)
	if err != nil {
		return nil, err
	}
	size := unsafe.Sizeof(cabi.DeviceArray{})
	shell, ok := cabi.Begin(nil, size+unsafe.Sizeof(cabi.Schema{}), 1)
	if !ok {
		return nil, faulty("", "allocate the structs: %w", device.ErrOutOfMemory)
	}
	a := &Array{shell: shell, array: (*cabi.DeviceArray)(shell.Take(size)), schema: (*cabi.Schema)(shell.Take(unsafe.Sizeof(cabi.Schema{})))}
	if err := fill(a, o); err != nil {
		return nil, also(err, a.release())
	}
	return a, nil
}

// Device returns the ArrowDeviceArray, which begins with the ArrowArray. It returns
// nil after Release.
//
// # Ownership
//
// The Array keeps the struct. Read it, or pass it to a function that moves the struct
// before it returns, such as [Import].
func (a *Array) Device() unsafe.Pointer {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return unsafe.Pointer(a.array)
}

// Schema returns the ArrowSchema, under the same terms as [Array.Device].
func (a *Array) Schema() unsafe.Pointer {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return unsafe.Pointer(a.schema)
}

// MoveTo moves the structs to a consumer's ArrowDeviceArray and ArrowSchema. If a
// destination is nil, the Array keeps that struct. The destinations are overwritten
// unread, and the consumer must release them.
//
// # Errors
//
// If a struct was moved or released before, MoveTo moves nothing and returns an error
// that wraps [ErrMoved].
func (a *Array) MoveTo(deviceArray, schema unsafe.Pointer) error {
	if a == nil {
		return during("move", faulty("", "the Array is nil: %w", ErrMoved))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if deviceArray != nil && (a.array == nil || a.array.Array.Release == 0) {
		return during("move", faulty("ArrowDeviceArray.array.release", "%w", ErrMoved))
	}
	if schema != nil && (a.schema == nil || a.schema.Release == 0) {
		return during("move", faulty("ArrowSchema.release", "%w", ErrMoved))
	}
	if deviceArray != nil {
		*(*cabi.DeviceArray)(deviceArray) = *a.array
		a.array.Array.Release = 0
	}
	if schema != nil {
		*(*cabi.Schema)(schema) = *a.schema
		a.schema.Release = 0
	}
	return nil
}

// Release releases the structs that no consumer has moved or released, and frees
// their memory. Further calls do nothing, so that a deferred call suits every path.
func (a *Array) Release() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return during("release", a.release())
}

// String describes the array, as in "Arrow array of 1000 rows and 3 children on cuda:0".
func (a *Array) String() string {
	if a == nil {
		return "nil Arrow array"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.array == nil {
		return "released Arrow array"
	}
	if a.array.Array.Release == 0 {
		return "Arrow array that a consumer has taken"
	}
	return fmt.Sprintf("Arrow array of %d rows and %d children on %v",
		a.array.Array.Length, a.array.Array.NumChildren, location{a.array.DeviceType, a.array.DeviceID})
}

func (a *Array) release() error {
	if a.array == nil {
		return nil
	}
	cabi.ReleaseSchema(a.schema)
	err := releaseArray(&a.array.Array)
	a.shell.Drop()
	a.shell, a.array, a.schema = nil, nil, nil
	return err
}

// releaseArray releases an array. If the array is a gpuframe export that ends with
// this call, releaseArray returns the error of its release.
func releaseArray(array *cabi.Array) error {
	owner, _, own := array.OwnerOf()
	x, ours := owner.(*export)
	if !own || !ours {
		cabi.ReleaseArray(array)
		return nil
	}
	x.awaited.Store(true)
	cabi.ReleaseArray(array)
	x.awaited.Store(false) // children that were moved away may end it later
	if failure := x.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}
