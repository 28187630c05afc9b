package perdevice

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
)

// Cache keeps a value for each device. The zero Cache is empty and ready; it is
// safe for concurrent use and must not be copied.
//
// Closing a device drops its value. What the value stands for on the device is not
// given back: it goes with the device's context.
type Cache[V any] struct {
	// The address is the key in the device's store, so a Cache must have a size.
	_ byte
}

// entry is locked while its value is made, so that devices do not wait for one
// another.
type entry[V any] struct {
	mu    sync.Mutex
	value atomic.Pointer[V]
}

// Get returns the device's value, which it makes if there is none yet. Of several
// callers at the same time one makes it and the others wait. An error of load is
// returned and not kept: the next Get tries again. A value that exists costs one
// look-up without a lock.
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
