package host

import (
	"sync"

	"github.com/gpuframe/gpuframe/device/backend"
)

// pool counts and limits allocations. The memory itself comes from the system and
// returns to it immediately, so a trim has no memory to free.
//
// Memory passed to FreeAsync leaves used when the call returns, and leaves reserved
// when the stream has reached the free. CUDA's figures change at the same points.
type pool struct {
	maximum uint64 // zero for none

	mu       sync.Mutex
	returned *sync.Cond // signalled when the bytes of pending frees have changed
	used     usage
	reserved usage
	settings map[backend.PoolAttribute]uint64
}

// usage is a number of bytes and its maximum.
type usage struct{ current, high uint64 }

func (u *usage) add(bytes uint64) {
	u.current += bytes
	u.high = max(u.high, u.current)
}

func newPool(maximum uint64) *pool {
	p := &pool{
		maximum: maximum,
		settings: map[backend.PoolAttribute]uint64{
			backend.PoolReuseFollowEventDependencies:   1,
			backend.PoolReuseAllowOpportunistic:        1,
			backend.PoolReuseAllowInternalDependencies: 1,
			backend.PoolReleaseThreshold:               0,
		},
	}
	p.returned = sync.NewCond(&p.mu)
	return p
}

// reserve counts an allocation, or returns false if it does not fit. It waits for
// pending frees first: a stream that frees and allocates again must not fail because
// its free has not run yet. Enqueued work always completes, so the wait ends.
func (p *pool) reserve(bytes uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.fits(bytes) {
		if p.reserved.current == p.used.current {
			return false
		}
		p.returned.Wait()
	}
	p.used.add(bytes)
	p.reserved.add(bytes)
	return true
}

func (p *pool) fits(bytes uint64) bool {
	return p.maximum == 0 || bytes <= p.maximum && p.reserved.current <= p.maximum-bytes
}

// retire counts memory as unused although it is not free yet.
func (p *pool) retire(bytes uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used.current -= bytes
}

// unretire undoes a retire. Allocations that wait for the memory must check again,
// because the memory may never be freed.
func (p *pool) unretire(bytes uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used.current += bytes
	p.returned.Broadcast()
}

// release counts retired memory as free.
func (p *pool) release(bytes uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reserved.current -= bytes
	p.returned.Broadcast()
}

func (p *pool) attribute(attribute backend.PoolAttribute) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch attribute {
	case backend.PoolUsedCurrent:
		return p.used.current, true
	case backend.PoolUsedHigh:
		return p.used.high, true
	case backend.PoolReservedCurrent:
		return p.reserved.current, true
	case backend.PoolReservedHigh:
		return p.reserved.high, true
	}
	value, ok := p.settings[attribute]
	return value, ok
}

// setAttribute resets a high-water mark or stores a setting. None changes the behaviour
// of the pool.
func (p *pool) setAttribute(attribute backend.PoolAttribute, value uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch attribute {
	case backend.PoolUsedHigh:
		if value != 0 {
			return false
		}
		p.used.high = p.used.current
		return true
	case backend.PoolReservedHigh:
		if value != 0 {
			return false
		}
		p.reserved.high = p.reserved.current
		return true
	}
	if _, ok := p.settings[attribute]; !ok {
		return false
	}
	if attribute != backend.PoolReleaseThreshold && value > 1 {
		return false
	}
	p.settings[attribute] = value
	return true
}

func (d *device) pool(operation string, handle backend.Pool) (*pool, error) {
	if err := d.check(operation); err != nil {
		return nil, err
	}
	if handle == 0 {
		return d.defaultPool, nil
	}
	p, ok := d.pools.get(handle)
	if !ok {
		return nil, invalid(operation, "pool %d does not belong to this device or was destroyed", handle)
	}
	return p, nil
}

func (d *device) PoolCreate(maximum uint64) (backend.Pool, error) {
	if err := d.check("PoolCreate"); err != nil {
		return 0, err
	}
	return d.pools.add(newPool(maximum)), nil
}

// PoolDestroy removes the pool. Memory allocated from it stays valid until it is freed.
func (d *device) PoolDestroy(handle backend.Pool) error {
	if err := d.check("PoolDestroy"); err != nil {
		return err
	}
	if handle == 0 {
		return invalid("PoolDestroy", "pool 0 is the default pool, which lives as long as the device")
	}
	if _, ok := d.pools.remove(handle); !ok {
		return invalid("PoolDestroy", "pool %d does not belong to this device or was destroyed", handle)
	}
	return nil
}

// PoolTrim does nothing: the system already has the freed memory.
func (d *device) PoolTrim(handle backend.Pool, _ uint64) error {
	_, err := d.pool("PoolTrim", handle)
	return err
}

func (d *device) PoolAttribute(handle backend.Pool, attribute backend.PoolAttribute) (uint64, error) {
	p, err := d.pool("PoolAttribute", handle)
	if err != nil {
		return 0, err
	}
	value, ok := p.attribute(attribute)
	if !ok {
		return 0, invalid("PoolAttribute", "pools have no attribute %d", attribute)
	}
	return value, nil
}

func (d *device) PoolSetAttribute(handle backend.Pool, attribute backend.PoolAttribute, value uint64) error {
	p, err := d.pool("PoolSetAttribute", handle)
	if err != nil {
		return err
	}
	if !p.setAttribute(attribute, value) {
		return invalid("PoolSetAttribute", "attribute %d cannot be set to %d", attribute, value)
	}
	return nil
}
