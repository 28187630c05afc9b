package memory

import (
	"github.com/gpuframe/gpuframe/device"
)

// Resource allocates and frees memory in stream order. It is the part of memory
// management that varies: a manager's figures and budget are the same above
// every resource. Resources stack: one that caches, logs or limits holds another
// and passes on what it does not answer itself.
//
// Implementations are safe for concurrent use.
type Resource interface {
	// Allocate returns memory that work enqueued on the stream from now on may
	// use. It is aligned to at least 256 bytes on a GPU and 64 on the host. The
	// bytes are not zero and the stream belongs to Device.
	Allocate(bytes uint64, stream *device.Stream) (Allocation, error)
	// Free takes back what Allocate returned. Work that is already enqueued on
	// the allocation's stream, and on the further streams that have used it, may
	// still use the memory; Free sees to it that nothing else does until that
	// work is done.
	Free(allocation Allocation, further []*device.Stream) error
	// Device returns the device that the memory belongs to.
	Device() *device.Device
	// Kind tells what kind of memory Allocate returns.
	Kind() device.MemoryKind
	// Close gives back everything that is not in use. Memory that is still held
	// stays valid and may be freed afterwards.
	Close() error
}

// Stacked is a resource that asks another one for its memory: one that caches,
// or an adaptor that limits, logs or checks.
type Stacked interface {
	Resource
	// Upstream returns the resource below.
	Upstream() Resource
}

// Trimmer is a resource that keeps freed memory for later.
type Trimmer interface {
	Resource
	// Trim gives memory that nothing uses back to where it came from until the
	// resource holds no more than keep bytes, and returns how many it gave back.
	// It waits for no work on the device.
	Trim(keep uint64) (released uint64, err error)
}

// FindResource returns the first resource of type T in a stack, from the top
// down, as errors.As does for errors.
func FindResource[T any](resource Resource) (found T, ok bool) {
	for resource != nil {
		if found, ok = resource.(T); ok {
			return found, true
		}
		stacked, more := resource.(Stacked)
		if !more {
			break
		}
		resource = stacked.Upstream()
	}
	return found, false
}

// Allocation is memory that a Resource handed out.
type Allocation struct {
	Pointer device.Pointer
	// Bytes is what was asked for; the memory may be larger.
	Bytes uint64
	// Stream is the stream on which the memory became usable.
	Stream *device.Stream
	// Private is for the resource, which gets it back in Free. An adaptor that
	// needs it for itself keeps what was in it and restores it for the resource
	// below.
	Private any
}
