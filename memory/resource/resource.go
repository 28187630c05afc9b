package resource

import "github.com/gpuframe/gpuframe/device"

// Resource allocates and frees memory in stream order. A memory.Manager keeps the
// same figures and the same budget above every resource. Resources stack: a resource
// that caches, logs or limits holds another one and passes on what it does not serve
// itself.
//
// Implementations are safe for concurrent use.
type Resource interface {
	// Allocate returns memory for work that is enqueued on the stream from now on.
	// The memory is aligned to at least 256 bytes on a GPU and 64 on the host. Its
	// contents are undefined. The stream belongs to Device.
	Allocate(bytes uint64, stream *device.Stream) (Allocation, error)
	// Free takes back what Allocate returned. Work that is already enqueued on the
	// allocation's stream, or on the further streams that have used the memory, may
	// still use it. The resource does not reuse the memory before that work is done.
	Free(allocation Allocation, further []*device.Stream) error
	// Device returns the device that the memory belongs to.
	Device() *device.Device
	// Kind returns the kind of memory that Allocate returns.
	Kind() device.MemoryKind
	// Close gives back everything that is not in use. Memory that is still in use
	// stays valid and may be freed afterwards.
	Close() error
}

// Allocation is memory that a [Resource] handed out.
type Allocation struct {
	Pointer device.Pointer
	// Bytes is the requested size; the memory may be larger.
	Bytes uint64
	// Stream is the stream on which the memory became usable.
	Stream *device.Stream
	// Private belongs to the resource, which gets it back in Free. An adaptor that
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
func Find[T any](top Resource) (found T, ok bool) {
	for top != nil {
		if found, ok = top.(T); ok {
			return found, true
		}
		stacked, more := top.(Stacked)
		if !more {
			break
		}
		top = stacked.Upstream()
	}
	return found, false
}

// Trimmer is a resource that keeps freed memory.
type Trimmer interface {
	Resource
	// Trim gives unused memory back to where it came from until the resource holds
	// no more than keep bytes, and returns how many bytes it gave back. It does not
	// wait for the device.
	Trim(keep uint64) (released uint64, err error)
}

// Primer is a resource that can get memory before it is asked for.
type Primer interface {
	Resource
	// Prime makes the resource hold enough cached memory for one request of the
	// given size.
	Prime(bytes uint64) error
}

// PeerSharer is a resource whose memory other devices can use only after AllowPeer.
// The driver's EnablePeerAccess covers its ordinary allocations and its default pool
// and nothing else.
type PeerSharer interface {
	Resource
	// AllowPeer lets another device, which can reach memory of this one, use the
	// memory of the resource, including memory that it gets later. Repeating it costs
	// nothing. After an error the memory is as usable on its own device as before.
	AllowPeer(peer *device.Device) error
}
