package perdevice

import (
	"fmt"
	"runtime"
	"sync"
	"weak"

	"github.com/gpuframe/gpuframe/device"
)

// Cache keeps a value for each device. The zero Cache is empty and ready; it is
// safe for concurrent use and must not be copied.
//
// A value must not refer to its *device.Device, or neither is ever collected.
// What the value stands for on the device is not given back: it goes with the
// device's context.
type Cache[V any] struct {
	mu      sync.RWMutex
	entries map[weak.Pointer[device.Device]]*entry[V]
}

// entry is locked while its value is made, so that devices do not wait for one
// another.
type entry[V any] struct {
	mu    sync.RWMutex
	made  bool
	value V
}

// Get returns the device's value, which it makes where there is none yet. Of
// several callers at the same time one makes it and the others wait. An error of
// load is returned and not kept: the next Get tries again.
func (c *Cache[V]) Get(dev *device.Device, load func(*device.Device) (V, error)) (V, error) {
	if dev == nil {
		var none V
		return none, fmt.Errorf("the device is nil: %w", device.ErrInvalidValue)
	}
	e := c.entry(dev)
	e.mu.RLock()
	made, value := e.made, e.value
	e.mu.RUnlock()
	if made {
		return value, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.made {
		return e.value, nil
	}
	value, err := load(dev)
	if err == nil {
		e.made, e.value = true, value
	}
	return value, err
}

func (c *Cache[V]) entry(dev *device.Device) *entry[V] {
	key := weak.Make(dev)
	c.mu.RLock()
	e := c.entries[key]
	c.mu.RUnlock()
	if e != nil {
		return e
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		return e
	}
	if c.entries == nil {
		c.entries = map[weak.Pointer[device.Device]]*entry[V]{}
	}
	e = new(entry[V])
	c.entries[key] = e
	runtime.AddCleanup(dev, c.drop, key)
	return e
}

func (c *Cache[V]) drop(key weak.Pointer[device.Device]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}

// Len returns how many devices the cache has seen that were not collected yet.
func (c *Cache[V]) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.entries)
}
