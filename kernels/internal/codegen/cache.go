package codegen

import (
	"fmt"
	"sync"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/perdevice"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

// Cache keeps what was made for programs, by device, key and shape: compiled
// kernels with what is known of them. The zero Cache is empty and ready. It is safe
// for concurrent use and must not be copied. Nothing is ever dropped but with the
// device: what varies from call to call is an argument, and expressions that a
// program is made of are few.
type Cache[V any] struct {
	devices perdevice.Cache[*made[V]]
}

// made is what there is for one device.
type made[V any] struct {
	mu      sync.RWMutex
	entries map[string]*entry[V]
}

// entry is locked while its value is made, so that others do not wait.
type entry[V any] struct {
	mu    sync.Mutex
	ready bool
	value V
}

// Get returns the value for a program that is run on columns on a device. The
// first call makes it: with a generator for the columns' shape. Prefix tells apart
// what is made of the same program in different ways. An error is not kept.
func (c *Cache[V]) Get(dev *device.Device, prefix string, program *tree.Program, inputs []*column.Column,
	build func(dev *device.Device, shape Shape) (V, error)) (value V, err error) {
	if len(inputs) != len(program.Types) {
		return value, fmt.Errorf("%d columns for a program of %d: %w", len(inputs), len(program.Types), device.ErrInvalidValue)
	}
	all, err := c.devices.Get(dev, func(*device.Device) (*made[V], error) {
		return &made[V]{entries: map[string]*entry[V]{}}, nil
	})
	if err != nil {
		return value, err
	}
	var room [512]byte
	key := appendKey(append(room[:0], prefix...), program, inputs)
	all.mu.RLock()
	e := all.entries[string(key)]
	all.mu.RUnlock()
	if e == nil {
		e = all.entry(string(key))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ready {
		return e.value, nil
	}
	shape, err := ShapeOf(program, inputs)
	if err != nil {
		return value, err
	}
	if value, err = build(dev, shape); err == nil {
		e.value, e.ready = value, true
	}
	return value, err
}

// entry returns that of a key, which it makes where there is none yet.
func (m *made[V]) entry(key string) *entry[V] {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	if e == nil {
		e = new(entry[V])
		m.entries[key] = e
	}
	return e
}

// appendKey adds what Shape.Append adds, without making a shape.
func appendKey(key []byte, program *tree.Program, inputs []*column.Column) []byte {
	key = append(append(key, program.Key...), ' ')
	for _, c := range inputs {
		key = inputOf(c).append(key)
	}
	for _, literal := range program.Literals {
		key = append(key, '0'+byte(literalOf(literal)))
	}
	return key
}

// loadKernel loads a module of one kernel.
func loadKernel(dev *device.Device, text, name string) (*kernels.Function, error) {
	module, err := kernels.LoadCached(dev, text)
	if err != nil {
		return nil, err
	}
	return module.Function(name)
}
