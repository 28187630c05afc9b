package perdevice

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
)

// Cache keeps a value for each device. The zero Cache is empty and ready for use. It is
// safe for concurrent use and must not be copied.
//
// Closing a device drops its value. The cache does not free the resources of a value on
// the device: they end with the device's context.
type Cache[V any] struct {
	// The address is the key in the device's store, so a Cache must have a size.
	_ byte
}

// entry is locked while its value is loaded, so that devices do not wait for each
// other.
type entry[V any] struct {
	mu    sync.Mutex
	value atomic.Pointer[V]
}

// Get returns the device's value and loads it on the first call. Of several concurrent
// callers one loads it and the others wait. Get returns an error of load without
// caching it: the next Get tries again. An existing value costs one look-up without a
// lock.
func (c *Cache[V]) Get(dev *device.Device, load func(*device.Device) (V, error)) (V, error) {
	if dev == nil {
		var none V
		return none, fmt.Errorf("the device is nil: %w", device.ErrInvalidValue)
	}
	e := c.entry(dev)
	if value := e.value.Load(); value != nil {
		return *value, nil
	}
	return e.make(dev, load)
}

func (e *entry[V]) make(dev *device.Device, load func(*device.Device) (V, error)) (V, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if value := e.value.Load(); value != nil {
		return *value, nil
	}
	value, err := load(dev)
	if err == nil {
		e.value.Store(&value)
	}
	return value, err
}

func (c *Cache[V]) entry(dev *device.Device) *entry[V] {
	store := dev.Store()
	e := store.Load(c)
	if e == nil {
		e = store.LoadOrStore(c, new(entry[V]))
	}
	return e.(*entry[V])
}
