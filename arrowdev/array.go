package arrowdev

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/device"
)

// Array is Go's hold on an exported array: an ArrowDeviceArray and its
// ArrowSchema in C memory. What they describe lives until their release callbacks
// have run, here or at a consumer's. An Array is safe for concurrent use.
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
		return nil, faulty("", "the structs: %w", device.ErrOutOfMemory)
	}
	a := &Array{shell: shell, array: (*cabi.DeviceArray)(shell.Take(size)), schema: (*cabi.Schema)(shell.Take(unsafe.Sizeof(cabi.Schema{})))}
	if err := fill(a, o); err != nil {
		return nil, also(err, a.release())
	}
	return a, nil
}

// Device returns the ArrowDeviceArray, whose first member is the ArrowArray. It
// stays this Array's: use it to look, or to give it to something that moves the
// struct at once, such as [Import]. It is nil once the Array is released.
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

// MoveTo moves the structs to where a consumer wants them: an ArrowDeviceArray
// and an ArrowSchema, either of which may be nil, so that it stays. What the
// structs held before is overwritten. The consumer has to release them from now
// on. Where one has been moved or released before, nothing is moved, and the
// error wraps [ErrMoved].
func (a *Array) MoveTo(deviceArray, schema unsafe.Pointer) error {
	if a == nil {
		return during("move", faulty("", "there is no array: %w", ErrMoved))
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

// Release releases what no consumer has moved away or released itself, and frees
// the structs. It may be called any number of times, so that a deferred call suits
// every path.
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
		a.array.Array.Length, a.array.Array.NumChildren, place{a.array.DeviceType, a.array.DeviceID})
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

// releaseArray releases an array and returns what went wrong with that, where it is
// one of gpuframe's own that ends here and now.
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
