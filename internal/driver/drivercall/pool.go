package drivercall

import "github.com/gpuframe/gpuframe/device/backend"

// The CUDA versions that gave the driver pools, and pools a maximum. Drivers between
// the two require zeros in its place.
const (
	poolsSince       = 11020
	poolMaximumSince = 12020
)

// FindPool looks up the device's default pool once, if the device supports pools. A zero
// Pool means that pool, but cuMemAllocAsync uses the device's current pool, which any
// code in the process may have changed.
func (g *Guard) FindPool(supported bool, defaultPool func() (pool uintptr, result int32)) {
	switch {
	case supported:
		g.defaultPool, g.noPools = defaultPool()
	case g.Info.DriverVersion < poolsSince:
		g.noPools = needsNewerDriver
	default:
		g.noPools = notSupported
	}
}

// HasPools reports whether the device has stream-ordered memory pools.
func (g *Guard) HasPools() bool { return g.noPools == 0 }

// pools checks that the device has pools. It inlines to two comparisons.
func (g *Guard) pools(function string) error {
	if g.closed.Load() || g.noPools != 0 {
		return g.withoutPools(function)
	}
	return nil
}

func (g *Guard) withoutPools(function string) error {
	if err := g.Open(function); err != nil {
		return err
	}
	detail := "the device has no stream-ordered memory pools: use Alloc and Free"
	if g.noPools == needsNewerDriver {
		detail = Needs(poolsSince)
	}
	return g.Failed(function, g.noPools, detail)
}

// Pool returns the driver's pool for a Pool.
func (g *Guard) Pool(function string, pool backend.Pool) (uintptr, error) {
	if err := g.pools(function); err != nil {
		return 0, err
	}
	if pool == 0 {
		return g.defaultPool, nil
	}
	return uintptr(pool), nil
}

// PoolBytes checks an allocation from a pool and returns the driver's pool.
func (g *Guard) PoolBytes(function string, pool backend.Pool, bytes uint64) (uintptr, error) {
	if err := g.pools(function); err != nil {
		return 0, err
	}
	if bytes == 0 {
		return 0, g.notZero(function, bytes)
	}
	if pool == 0 {
		return g.defaultPool, nil
	}
	return uintptr(pool), nil
}

// PoolPointer checks the address of an allocation from a pool.
func (g *Guard) PoolPointer(function string, pointer backend.Pointer) error {
	if err := g.pools(function); err != nil {
		return err
	}
	if pointer == 0 {
		return g.Refuse(function, "the pointer is zero")
	}
	return nil
}

// OwnPool returns the driver's pool for a pool to be destroyed, which the default pool
// cannot be.
func (g *Guard) OwnPool(function string, pool backend.Pool) (uintptr, error) {
	handle, err := g.Pool(function, pool)
	if err == nil && pool == 0 {
		err = g.Refuse(function, "the default pool cannot be destroyed")
	}
	return handle, err
}

// PoolMaximum checks the maximum of a new pool; 0 means no maximum.
func (g *Guard) PoolMaximum(function string, maximum uint64) error {
	if err := g.pools(function); err != nil {
		return err
	}
	if maximum != 0 && g.Info.DriverVersion < poolMaximumSince {
		return g.Failed(Call(function, PoolMaximum(maximum)), needsNewerDriver, "a pool with a maximum: "+Needs(poolMaximumSince))
	}
	return nil
}
