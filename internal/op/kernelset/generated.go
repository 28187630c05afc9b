package kernelset

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
	"github.com/gpuframe/gpuframe/kernels"
)

// MostKept is how many values a [Generated] keeps for each device. A kernel takes the
// driver some ten milliseconds to compile and some ten kilobytes of the device.
const MostKept = 256

// Generated keeps values of generated code by key and device: compiled kernels and
// their properties. It keeps at most [MostKept] values for each device: it drops the
// least recently used one for the next, and builds it again for the next request. The zero Generated is empty and ready. It is safe for concurrent use and must
// not be copied.
type Generated[V any] struct {
	devices perdevice.Cache[*recent[V]]
}

// recent holds the values of one device.
type recent[V any] struct {
	mu      sync.RWMutex
	entries map[string]*entry[V]
	// clock counts the entries that were made.
	clock atomic.Uint64
}

// entry is a value and the clock of the last request for it.
type entry[V any] struct {
	once[V]
	used atomic.Uint64
}

// Get returns the value of a key on a device. The first call makes it; others wait for
// it until their context is done. An error is not kept.
func (g *Generated[V]) Get(ctx context.Context, dev *device.Device, key []byte, build func() (V, error)) (value V, err error) {
	all, err := g.devices.Get(dev, newRecent[V])
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
	return e.get(ctx, build)
}

func newRecent[V any](*device.Device) (*recent[V], error) {
	return &recent[V]{entries: map[string]*entry[V]{}}, nil
}

// entry returns the entry of a key, which it makes for the first request.
func (r *recent[V]) entry(key string) *entry[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[key]
	if e == nil {
		if len(r.entries) >= MostKept {
			r.drop()
		}
		e = &entry[V]{once: once[V]{making: make(chan struct{}, 1)}}
		r.entries[key] = e
	}
	e.used.Store(r.clock.Add(1))
	return e
}

// drop forgets the least recently used entry. Callers that hold its value go on.
func (r *recent[V]) drop() {
	var oldest string
	least := uint64(1<<64 - 1)
	for key, e := range r.entries {
		if used := e.used.Load(); used < least {
			oldest, least = key, used
		}
	}
	delete(r.entries, oldest)
}

// Load compiles generated PTX and returns its kernel. The driver drops the code when
// nothing refers to the kernel any more: see [kernels.LoadCollected].
func Load(dev *device.Device, text, entry string) (*kernels.Function, error) {
	module, err := kernels.LoadCollected(dev, text)
	if err != nil {
		return nil, fmt.Errorf("generated kernel %s: %w", entry, err)
	}
	return readsSettled(module.Function(entry))
}
