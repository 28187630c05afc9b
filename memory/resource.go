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

// Allocation is memory that a Resource handed out.
type Allocation struct {
	Pointer device.Pointer
	// Bytes is what was asked for; the memory may be larger.
	Bytes uint64
	// Stream is the stream on which the memory became usable.
	Stream *device.Stream
	// Private is for the resource, which gets it back in Free.
	Private any
}
