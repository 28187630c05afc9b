//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// peer returns a device by its number, which may be the device's own.
func (d *device) peer(function string, ordinal int) (*libcuda.Device, error) {
	if err := d.guard.Peer(function, ordinal); err != nil {
		return nil, err
	}
	if ordinal == d.guard.Info.Ordinal {
		return &d.raw, nil
	}
	peer, result := d.peers.Get(ordinal, retain)
	if result != 0 {
		return nil, failed(libcuda.Result(result), "cuDevicePrimaryCtxRetain", drivercall.Device(ordinal))
	}
	return peer, nil
}

func retain(ordinal int) (libcuda.Device, int32) {
	handle, result := libcuda.DeviceGet(ordinal)
	if result != libcuda.Success {
		return libcuda.Device{}, int32(result)
	}
	peer, result := handle.Retain()
	return peer, int32(result)
}

// CanAccessPeer returns false for the device itself, as the driver does.
func (d *device) CanAccessPeer(peerOrdinal int) (bool, error) {
	const function = "cuDeviceCanAccessPeer"
	if err := d.guard.Peer(function, peerOrdinal); err != nil {
		return false, err
	}
	handle, result := libcuda.DeviceGet(peerOrdinal)
	if result != libcuda.Success {
		return false, failed(result, "cuDeviceGet", drivercall.Device(peerOrdinal))
	}
	can, result := d.raw.Handle().CanAccessPeer(handle)
	if result != libcuda.Success {
		return false, failed(result, function, drivercall.Pair(d.guard.Info.Ordinal, peerOrdinal))
	}
	return can, nil
}

// EnablePeerAccess lets this device access the peer's ordinary allocations and, if the
// peer has pools, its default pool. PoolAllowPeer of the peer opens any other pool.
func (d *device) EnablePeerAccess(peerOrdinal int) error {
	const function = "cuCtxEnablePeerAccess"
	peer, err := d.peer(function, peerOrdinal)
	if err != nil {
		return err
	}
	if err := d.guard.OtherPeer(function, peerOrdinal); err != nil {
		return err
	}
	result := d.raw.EnablePeer(*peer)
	enabledBefore := Code(result) == CodePeerAlreadyEnabled
	if result != libcuda.Success && !enabledBefore {
		return failed(result, function, drivercall.Pair(d.guard.Info.Ordinal, peerOrdinal))
	}
	if !d.guard.HasPools() {
		return nil
	}
	pool, result := peer.Handle().DefaultPool()
	if result != libcuda.Success {
		return nil // the peer has no pools
	}
	if result = d.raw.PoolAllow(pool, d.raw.Handle()); result == libcuda.Success {
		return nil
	}
	err = failed(result, "cuMemPoolSetAccess", drivercall.Pair(d.guard.Info.Ordinal, peerOrdinal))
	if enabledBefore {
		return err
	}
	return errors.Join(err, check(d.raw.DisablePeer(*peer), "cuCtxDisablePeerAccess"))
}

// DisablePeerAccess does not change access to the peer's default pool: the pool belongs
// to the whole process, and other code may depend on the access.
func (d *device) DisablePeerAccess(peerOrdinal int) error {
	const function = "cuCtxDisablePeerAccess"
	peer, err := d.peer(function, peerOrdinal)
	if err != nil {
		return err
	}
	if result := d.raw.DisablePeer(*peer); result != libcuda.Success {
		return failed(result, function, drivercall.Pair(d.guard.Info.Ordinal, peerOrdinal))
	}
	return nil
}

func (d *device) PoolAllowPeer(pool backend.Pool, peerOrdinal int) error {
	const function = "cuMemPoolSetAccess"
	handle, err := d.guard.Pool(function, pool)
	if err != nil {
		return err
	}
	if err := d.guard.OtherPeer(function, peerOrdinal); err != nil {
		return err
	}
	peer, result := libcuda.DeviceGet(peerOrdinal)
	if result != libcuda.Success {
		return failed(result, "cuDeviceGet", drivercall.Device(peerOrdinal))
	}
	if result := d.raw.PoolAllow(handle, peer); result != libcuda.Success {
		return failed(result, function, drivercall.PoolAccess(d.guard.Info.Ordinal, peerOrdinal))
	}
	return nil
}

func (d *device) CopyFromPeerAsync(destination, source backend.Pointer, peerOrdinal int, bytes uint64, stream backend.Stream) error {
	const function = "cuMemcpyPeerAsync"
	if proceed, err := d.guard.Copy(function, uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	peer, err := d.peer(function, peerOrdinal)
	if err != nil {
		return err
	}
	return copied(d.raw.CopyFromPeerAsync(uint64(destination), uint64(source), *peer, bytes, uintptr(stream)), function, bytes)
}
