package memory

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/caching"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// The resources that programs choose between have short names here. What only
// resources and adaptors themselves need is in package resource.
type (
	// Resource is where a manager's memory comes from.
	Resource = resource.Resource

	// CachingResource keeps freed memory and hands it out again; see [caching.Resource].
	// It is what a manager uses unless Options.Resource names another resource.
	CachingResource = caching.Resource
	// CachingOptions configure a [CachingResource].
	CachingOptions = caching.Options
	// OutOfMemoryError says why a [CachingResource] has no memory for a request.
	OutOfMemoryError = caching.OutOfMemoryError

	// DriverResource asks the driver for each allocation; see [resource.Driver].
	DriverResource = resource.Driver
	// StreamOrderedResource allocates from a pool of the driver; see
	// [resource.StreamOrdered].
	StreamOrderedResource = resource.StreamOrdered
	// StreamOrderedOptions configure a [StreamOrderedResource].
	StreamOrderedOptions = resource.StreamOrderedOptions
	// PinnedResource allocates page-locked host memory; see [resource.Pinned].
	PinnedResource = resource.Pinned
	// ManagedResource allocates memory that processor and device reach at one
	// address; see [resource.Managed].
	ManagedResource = resource.Managed
)

// Segments of a [CachingResource].
const (
	AutomaticSegments  = caching.AutomaticSegments
	FixedSegments      = caching.FixedSegments
	ExpandableSegments = caching.ExpandableSegments
)

// KeepNothing is the StreamOrderedOptions.ReleaseThreshold that gives all unused memory
// back to the system at every synchronisation.
const KeepNothing = resource.KeepNothing

// NewCachingResource makes a caching resource on the device. The caller closes it.
func NewCachingResource(dev *device.Device, options CachingOptions) (*CachingResource, error) {
	return caching.New(dev, options)
}

// NewDriverResource returns a DriverResource for the device.
func NewDriverResource(dev *device.Device) *DriverResource { return resource.NewDriver(dev) }

// NewStreamOrderedResource makes a pool on the device. The caller closes it.
//
// # Errors
//
// Before CUDA 11.2, and on some virtual GPUs, the driver has no pools: the error wraps
// device.ErrNotSupported. Use a [CachingResource] there.
func NewStreamOrderedResource(dev *device.Device, options StreamOrderedOptions) (*StreamOrderedResource, error) {
	return resource.NewStreamOrdered(dev, options)
}

// NewPinnedResource returns a PinnedResource for the device.
func NewPinnedResource(dev *device.Device) *PinnedResource { return resource.NewPinned(dev) }

// NewManagedResource returns a ManagedResource for the device.
func NewManagedResource(dev *device.Device) *ManagedResource { return resource.NewManaged(dev) }
