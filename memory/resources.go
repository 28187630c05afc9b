package memory

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/caching"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// These are short names for the resources that programs choose between. Types that
// only resources and adaptors need are in package resource.
type (
	// Resource provides a manager's memory.
	Resource = resource.Resource

	// CachingResource keeps freed memory and reuses it; see [caching.Resource]. It
	// is the default of Options.Resource.
	CachingResource = caching.Resource
	// CachingOptions configure a [CachingResource].
	CachingOptions = caching.Options
	// OutOfMemoryError explains why a [CachingResource] has no memory for a request.
	OutOfMemoryError = caching.OutOfMemoryError

	// DriverResource calls the driver for each allocation; see [resource.Driver].
	DriverResource = resource.Driver
	// StreamOrderedResource allocates from a memory pool of the driver; see
	// [resource.StreamOrdered].
	StreamOrderedResource = resource.StreamOrdered
	// StreamOrderedOptions configure a [StreamOrderedResource].
	StreamOrderedOptions = resource.StreamOrderedOptions
	// PinnedResource allocates page-locked host memory; see [resource.Pinned].
	PinnedResource = resource.Pinned
	// ManagedResource allocates memory that is accessible at the same address on the
	// host and the device; see [resource.Managed].
	ManagedResource = resource.Managed
)

// Segment strategies of a [CachingResource].
const (
	AutomaticSegments  = caching.AutomaticSegments
	FixedSegments      = caching.FixedSegments
	ExpandableSegments = caching.ExpandableSegments
)

// KeepNothing is the StreamOrderedOptions.ReleaseThreshold that returns all unused
// memory to the system at every synchronization.
const KeepNothing = resource.KeepNothing

// NewCachingResource returns a caching resource on the device. The caller must close
// it.
func NewCachingResource(dev *device.Device, options CachingOptions) (*CachingResource, error) {
	return caching.New(dev, options)
}

// NewDriverResource returns a DriverResource for the device.
func NewDriverResource(dev *device.Device) *DriverResource { return resource.NewDriver(dev) }

// NewStreamOrderedResource creates a memory pool on the device. The caller must
// close it.
//
// # Errors
//
// Before CUDA 11.2, and on some virtual GPUs, the driver has no memory pools: the
// error wraps device.ErrNotSupported. Use a [CachingResource] there.
func NewStreamOrderedResource(dev *device.Device, options StreamOrderedOptions) (*StreamOrderedResource, error) {
	return resource.NewStreamOrdered(dev, options)
}

// NewPinnedResource returns a PinnedResource for the device.
func NewPinnedResource(dev *device.Device) *PinnedResource { return resource.NewPinned(dev) }

// NewManagedResource returns a ManagedResource for the device.
func NewManagedResource(dev *device.Device) *ManagedResource { return resource.NewManaged(dev) }
