//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda/internal/libcuda"
)

// peers holds the primary contexts of the other devices that a device has used. They
// are retained until the device is closed, so that they outlive the peer's Device.
type peers struct {
	mutex    sync.Mutex // guards retaining and releasing
	released bool
	retained []atomic.Pointer[libcuda.Device] // by ordinal
}

func newPeers(count int) peers {
	return peers{retained: make([]atomic.Pointer[libcuda.Device], count)}
}

// get retains the context of a peer on first use.
func (p *peers) get(ordinal int) (libcuda.Device, libcuda.Result) {
	if peer := p.retained[ordinal].Load(); peer != nil {
		return *peer, libcuda.Success
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if peer := p.retained[ordinal].Load(); peer != nil {
		return *peer, libcuda.Success
	}
	if p.released {
		return libcuda.Device{}, libcuda.Result(CodeInvalidContext)
	}
	handle, result := libcuda.DeviceGet(ordinal)
	if result != libcuda.Success {
		return libcuda.Device{}, result
	}
	peer, result := handle.Retain()
	if result == libcuda.Success {
		p.retained[ordinal].Store(&peer)
	}
	return peer, result
}

func (p *peers) release() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.released = true
	var errs []error
	for ordinal := range p.retained {
		if peer := p.retained[ordinal].Swap(nil); peer != nil {
			errs = append(errs, check(peer.Release(), "cuDevicePrimaryCtxRelease"))
		}
	}
	return errors.Join(errs...)
}

// peer returns a device by its number, which may be the device's own.
func (d *device) peer(function string, ordinal int) (libcuda.Device, error) {
	if err := d.open(function); err != nil {
		return libcuda.Device{}, err
	}
	if ordinal < 0 || ordinal >= len(d.peers.retained) {
		return libcuda.Device{}, missingDevice(ordinal, len(d.peers.retained))
	}
	if ordinal == d.info.Ordinal {
		return d.raw, nil
	}
	peer, result := d.peers.get(ordinal)
	if result != libcuda.Success {
		return libcuda.Device{}, failed(result, "cuDevicePrimaryCtxRetain", "device %d", ordinal)
	}
	return peer, nil
}

// CanAccessPeer returns false for the device itself, as the driver does.
func (d *device) CanAccessPeer(peerOrdinal int) (bool, error) {
	const function = "cuDeviceCanAccessPeer"
	if err := d.open(function); err != nil {
		return false, err
	}
	if peerOrdinal < 0 || peerOrdinal >= len(d.peers.retained) {
		return false, missingDevice(peerOrdinal, len(d.peers.retained))
	}
	handle, result := libcuda.DeviceGet(peerOrdinal)
	if result != libcuda.Success {
		return false, failed(result, "cuDeviceGet", "device %d", peerOrdinal)
	}
	can, result := d.raw.Handle().CanAccessPeer(handle)
	if result != libcuda.Success {
		return false, failed(result, function, "device %d, peer %d", d.info.Ordinal, peerOrdinal)
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
	if peerOrdinal == d.info.Ordinal {
		return refuse(function, "device %d is the device itself: pass the number of another device", peerOrdinal)
	}
	result := d.raw.EnablePeer(peer)
	enabledBefore := Code(result) == CodePeerAlreadyEnabled
	if result != libcuda.Success && !enabledBefore {
		return failed(result, function, "device %d, peer %d", d.info.Ordinal, peerOrdinal)
	}
	if d.noPools != CodeSuccess {
		return nil
	}
	pool, result := peer.Handle().DefaultPool()
	if result != libcuda.Success {
		return nil // the peer has no pools
	}
	if result = d.raw.PoolAllow(pool, d.raw.Handle()); result == libcuda.Success {
		return nil
	}
	err = failed(result, "cuMemPoolSetAccess", "device %d, peer %d", d.info.Ordinal, peerOrdinal)
	if enabledBefore {
		return err
	}
	return errors.Join(err, check(d.raw.DisablePeer(peer), "cuCtxDisablePeerAccess"))
}

// DisablePeerAccess does not change access to the peer's default pool: the pool belongs
// to the whole process, and other code may depend on the access.
func (d *device) DisablePeerAccess(peerOrdinal int) error {
	const function = "cuCtxDisablePeerAccess"
	peer, err := d.peer(function, peerOrdinal)
	if err != nil {
		return err
	}
	if result := d.raw.DisablePeer(peer); result != libcuda.Success {
		return failed(result, function, "device %d, peer %d", d.info.Ordinal, peerOrdinal)
	}
	return nil
}

func (d *device) PoolAllowPeer(pool backend.Pool, peerOrdinal int) error {
	const function = "cuMemPoolSetAccess"
	handle, err := d.pool(pool, function)
	if err != nil {
		return err
	}
	if peerOrdinal < 0 || peerOrdinal >= len(d.peers.retained) {
		return missingDevice(peerOrdinal, len(d.peers.retained))
	}
	if peerOrdinal == d.info.Ordinal {
		return refuse(function, "device %d is the device itself: pass the number of another device", peerOrdinal)
	}
	peer, result := libcuda.DeviceGet(peerOrdinal)
	if result != libcuda.Success {
		return failed(result, "cuDeviceGet", "device %d", peerOrdinal)
	}
	if result := d.raw.PoolAllow(handle, peer); result != libcuda.Success {
		return failed(result, function, "pool of device %d, peer %d", d.info.Ordinal, peerOrdinal)
	}
	return nil
}

func (d *device) CopyFromPeerAsync(destination, source backend.Pointer, peerOrdinal int, bytes uint64, stream backend.Stream) error {
	const function = "cuMemcpyPeerAsync"
	if proceed, err := d.copyable(function, uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	peer, err := d.peer(function, peerOrdinal)
	if err != nil {
		return err
	}
	return copied(d.raw.CopyFromPeerAsync(uint64(destination), uint64(source), peer, bytes, uintptr(stream)), function, bytes)
}
