package resource

import "github.com/gpuframe/gpuframe/device"

// Resource allocates and frees memory in stream order. A memory.Manager keeps the
// same statistics and the same budget above every resource. Resources stack: a
// resource that caches, logs or limits holds another one and passes requests on.
//
// Implementations are safe for concurrent use.
type Resource interface {
	// Allocate returns memory for work that is enqueued on the stream from now on.
	// The memory is aligned to at least 256 bytes on a GPU and 64 on the host. Its
	// contents are undefined. The stream belongs to Device.
	Allocate(bytes uint64, stream *device.Stream) (Allocation, error)
	// Free frees an allocation. Work that is already enqueued on the allocation's
	// stream, or on the further streams that have used the memory, may still use it.
	// The resource does not reuse the memory before that work has completed.
	Free(allocation Allocation, further []*device.Stream) error
	// Device returns the device of the memory.
	Device() *device.Device
	// Kind returns the kind of memory that Allocate returns.
	Kind() device.MemoryKind
	// Close releases all memory that is not in use. Memory in use stays valid and
	// may be freed afterwards.
	Close() error
}

// Allocation is memory that a [Resource] handed out.
type Allocation struct {
	Pointer device.Pointer
	// Bytes is the requested size; the memory may be larger.
	Bytes uint64
	// Stream is the stream on which the memory became usable.
	Stream *device.Stream
	// Private belongs to the resource, which receives it in Free. An adaptor that
	// stores its own value here restores the old one for the resource below.
	Private any
}

// Stacked is a resource that allocates from another one: a cache, or an adaptor that
// limits, logs or checks.
type Stacked interface {
	Resource
	// Upstream returns the resource below.
	Upstream() Resource
}

// Find returns the first resource of type T in a stack, from the top down, as
// errors.As does for errors.
func Find[T any](top Resource) (match T, ok bool) {
	for top != nil {
		if match, ok = top.(T); ok {
			return match, true
		}
		stacked, more := top.(Stacked)
		if !more {
			break
		}
		top = stacked.Upstream()
	}
	return match, false
}

// Trimmer is a resource that keeps freed memory.
type Trimmer interface {
	Resource
	// Trim releases unused memory until the resource holds at most keep bytes, and
	// returns the number of bytes released. It does not wait for the device.
	Trim(keep uint64) (released uint64, err error)
}

// Primer is a resource that can obtain memory in advance.
type Primer interface {
	Resource
	// Prime makes the resource hold enough cached memory for one request of the
	// given size.
	Prime(bytes uint64) error
}

// PeerSharer is a resource with memory that other devices can use only after
// AllowPeer. The driver's EnablePeerAccess covers only ordinary allocations and the
// default pool.
type PeerSharer interface {
	Resource
	// AllowPeer gives another device access to the memory of the resource, including
	// memory allocated later. The device must be able to access the memory of this
	// one. Repeated calls are cheap. After an error the memory is still usable on
	// its own device.
	AllowPeer(peer *device.Device) error
}
