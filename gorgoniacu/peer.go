//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"errors"
	"sync"
	"sync/atomic"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
)

// peer is another device and its primary context.
type peer struct {
	handle  cu.Device
	context cu.CUContext
}

// peers holds the primary contexts of the other devices that a device has used. They
// are retained until the device is closed, so that they outlive the peer's Device.
type peers struct {
	mutex    sync.Mutex // guards retaining and releasing
	released bool
	retained []atomic.Pointer[peer] // by ordinal
}

func newPeers(count int) peers { return peers{retained: make([]atomic.Pointer[peer], count)} }

// get retains the context of a peer on first use.
func (p *peers) get(ordinal int) (*peer, error) {
	if found := p.retained[ordinal].Load(); found != nil {
		return found, nil
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if found := p.retained[ordinal].Load(); found != nil {
		return found, nil
	}
	if p.released {
		return nil, cuda.CodeInvalidContext
	}
	handle, err := cu.GetDevice(ordinal)
	if err != nil {
		return nil, err
	}
	context, err := handle.RetainPrimaryCtx()
	if err != nil {
		return nil, err
	}
	p.retained[ordinal].Store(&peer{handle: handle, context: context})
	return p.retained[ordinal].Load(), nil
}

func (p *peers) release() error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.released = true
	var errs []error
	for ordinal := range p.retained {
		if held := p.retained[ordinal].Swap(nil); held != nil {
			errs = append(errs, check(held.handle.ReleasePrimaryCtx(), "cuDevicePrimaryCtxRelease"))
		}
	}
	return errors.Join(errs...)
}

// exists checks that the device is open and that a device has the number.
func (d *openDevice) exists(function string, ordinal int) error {
	if err := d.open(function); err != nil {
		return err
	}
	if ordinal < 0 || ordinal >= len(d.peers.retained) {
		return missingDevice(ordinal, len(d.peers.retained))
	}
	return nil
}

// peer returns a device by its number, which may be the device's own.
func (d *openDevice) peer(function string, ordinal int) (*peer, error) {
	if err := d.exists(function, ordinal); err != nil {
		return nil, err
	}
	if ordinal == d.info.Ordinal {
		return &peer{handle: d.handle, context: d.context}, nil
	}
	found, err := d.peers.get(ordinal)
	if err != nil {
		return nil, callFailed(err, "cuDevicePrimaryCtxRetain", "device %d", ordinal)
	}
	return found, nil
}

// CanAccessPeer returns false for the device itself, as the driver does.
func (d *openDevice) CanAccessPeer(peerOrdinal int) (bool, error) {
	const function = "cuDeviceCanAccessPeer"
	if err := d.exists(function, peerOrdinal); err != nil {
		return false, err
	}
	handle, err := cu.GetDevice(peerOrdinal)
	if err != nil {
		return false, callFailed(err, "cuDeviceGet", "device %d", peerOrdinal)
	}
	can, err := d.handle.CanAccessPeer(handle)
	if err != nil {
		return false, callFailed(err, function, "device %d, peer %d", d.info.Ordinal, peerOrdinal)
	}
	return can != 0, nil
}

// EnablePeerAccess lets this device access the peer's ordinary allocations and, if the
// peer has pools, its default pool. PoolAllowPeer of the peer opens any other pool.
func (d *openDevice) EnablePeerAccess(peerOrdinal int) error {
	const function = "cuCtxEnablePeerAccess"
	peer, err := d.peer(function, peerOrdinal)
	if err != nil {
		return err
	}
	if peerOrdinal == d.info.Ordinal {
		return refuse(function, "device %d is the device itself: pass the number of another device", peerOrdinal)
	}
	err = d.within(func() error { return peer.context.EnablePeerAccess(0) })
	enabledBefore := code(err) == cuda.CodePeerAlreadyEnabled
	if err != nil && !enabledBefore {
		return callFailed(err, function, "device %d, peer %d", d.info.Ordinal, peerOrdinal)
	}
	if d.noPools != cuda.CodeSuccess {
		return nil
	}
	pool, result := shim.DefaultPool(int(peer.handle))
	if result != shim.Success {
		return nil // the peer has no pools
	}
	if result = d.shim.PoolAllow(pool, int(d.handle)); result == shim.Success {
		return nil
	}
	err = failed(cuda.Code(result), "cuMemPoolSetAccess", "device %d, peer %d", d.info.Ordinal, peerOrdinal)
	if enabledBefore {
		return err
	}
	return errors.Join(err, check(d.within(peer.context.DisablePeerAccess), "cuCtxDisablePeerAccess"))
}

// DisablePeerAccess does not change access to the peer's default pool: the pool belongs
// to the whole process, and other code may depend on the access.
func (d *openDevice) DisablePeerAccess(peerOrdinal int) error {
	const function = "cuCtxDisablePeerAccess"
	peer, err := d.peer(function, peerOrdinal)
	if err != nil {
		return err
	}
	if err := d.within(peer.context.DisablePeerAccess); err != nil {
		return callFailed(err, function, "device %d, peer %d", d.info.Ordinal, peerOrdinal)
	}
	return nil
}

func (d *openDevice) PoolAllowPeer(pool backend.Pool, peerOrdinal int) error {
	const function = "cuMemPoolSetAccess"
	handle, err := d.pool(pool, function)
	if err != nil {
		return err
	}
	if err := d.exists(function, peerOrdinal); err != nil {
		return err
	}
	if peerOrdinal == d.info.Ordinal {
		return refuse(function, "device %d is the device itself: pass the number of another device", peerOrdinal)
	}
	peer, err := cu.GetDevice(peerOrdinal)
	if err != nil {
		return callFailed(err, "cuDeviceGet", "device %d", peerOrdinal)
	}
	if result := d.shim.PoolAllow(handle, int(peer)); result != shim.Success {
		return failed(cuda.Code(result), function, "pool of device %d, peer %d", d.info.Ordinal, peerOrdinal)
	}
	return nil
}

func (d *openDevice) CopyFromPeerAsync(destination, source backend.Pointer, peerOrdinal int, bytes uint64, stream backend.Stream) error {
	const function = "cuMemcpyPeerAsync"
	if proceed, err := d.copyable(function, uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	peer, err := d.peer(function, peerOrdinal)
	if err != nil {
		return err
	}
	return copied(d.shim.CopyFromPeerAsync(uint64(destination), uint64(source), word(peer.context), bytes, uintptr(stream)), function, bytes)
}
