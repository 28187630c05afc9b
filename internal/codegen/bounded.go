package codegen

import (
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/perdevice"
	"github.com/gpuframe/gpuframe/kernels"
)

// MostKept is how many values a [Bounded] keeps for each device. A kernel takes the
// driver some ten milliseconds to compile and some ten kilobytes of the device.
const MostKept = 256

// Bounded keeps what was made for keys, by device: compiled kernels with what is known
// of them. At most [MostKept] values are kept for each device: of more, those that were
// not asked for longest are dropped, and made anew when they are asked for again. The
// zero Bounded is empty and ready. It is safe for concurrent use and must not be
// copied.
type Bounded[V any] struct {
	devices perdevice.Cache[*made[V]]
}

// made is what there is for one device.
type made[V any] struct {
	mu      sync.RWMutex
	entries map[string]*entry[V]
	// clock counts the entries that were made.
	clock atomic.Uint64
}

// entry is locked while its value is made, so that others do not wait.
type entry[V any] struct {
	mu    sync.Mutex
	ready bool
	value V
	// used is the clock when the entry was last asked for.
	used atomic.Uint64
}

// Get returns the value of a key on a device. The first call makes it. An error is not
// kept.
func (c *Bounded[V]) Get(dev *device.Device, key []byte, build func() (V, error)) (value V, err error) {
	all, err := c.devices.Get(dev, func(*device.Device) (*made[V], error) {
		return &made[V]{entries: map[string]*entry[V]{}}, nil
	})
	if err != nil {
		return value, err
	}
	all.mu.RLock()
	e := all.entries[string(key)]
	all.mu.RUnlock()
	if e == nil {
		e = all.entry(string(key))
	} else if now := all.clock.Load(); e.used.Load() != now {
		e.used.Store(now)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ready {
		return e.value, nil
	}
	if value, err = build(); err == nil {
		e.value, e.ready = value, true
	}
	return value, err
}

// entry returns that of a key, which it makes if there is none yet.
func (m *made[V]) entry(key string) *entry[V] {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	if e == nil {
		if len(m.entries) >= MostKept {
			m.drop()
		}
		e = new(entry[V])
		m.entries[key] = e
	}
	e.used.Store(m.clock.Add(1))
	return e
}

// drop forgets the entry that was not asked for longest. Who has its value goes on.
func (m *made[V]) drop() {
	var oldest string
	least := uint64(1<<64 - 1)
	for key, e := range m.entries {
		if used := e.used.Load(); used < least {
			oldest, least = key, used
		}
	}
	delete(m.entries, oldest)
}

// LoadKernel loads a module of one kernel, whose code is dropped when nothing refers to
// the kernel any more.
func LoadKernel(dev *device.Device, text, name string) (*kernels.Function, error) {
	module, err := kernels.LoadCollected(dev, text)
	if err != nil {
		return nil, err
	}
	return module.Function(name)
}
