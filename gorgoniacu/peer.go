//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu

import (
	"errors"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/gorgoniacu/internal/shim"
	"github.com/gpuframe/gpuframe/internal/driver/drivercall"
)

// peer is another device and its primary context.
type peer struct {
	handle  cu.Device
	context cu.CUContext
}

func retain(ordinal int) (peer, int32) {
	handle, err := cu.GetDevice(ordinal)
	if err != nil {
		return peer{}, int32(code(err))
	}
	context, err := handle.RetainPrimaryCtx()
	return peer{handle: handle, context: context}, int32(code(err))
}

// peer returns a device by its number, which may be the device's own.
func (d *openDevice) peer(function string, ordinal int) (*peer, error) {
	if err := d.guard.Peer(function, ordinal); err != nil {
		return nil, err
	}
	if ordinal == d.guard.Info.Ordinal {
		return &peer{handle: d.handle, context: d.context}, nil
	}
	known, result := d.peers.Get(ordinal, retain)
	if result != 0 {
		return nil, failed(cuda.Code(result), "cuDevicePrimaryCtxRetain", drivercall.Device(ordinal))
	}
	return known, nil
}

// CanAccessPeer returns false for the device itself, as the driver does.
func (d *openDevice) CanAccessPeer(peerOrdinal int) (bool, error) {
	const function = "cuDeviceCanAccessPeer"
	if err := d.guard.Peer(function, peerOrdinal); err != nil {
		return false, err
	}
	handle, err := cu.GetDevice(peerOrdinal)
	if err != nil {
		return false, callFailed(err, "cuDeviceGet", drivercall.Device(peerOrdinal))
	}
	can, err := d.handle.CanAccessPeer(handle)
	if err != nil {
		return false, callFailed(err, function, drivercall.Pair(d.guard.Info.Ordinal, peerOrdinal))
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
	if err := d.guard.OtherPeer(function, peerOrdinal); err != nil {
		return err
	}
	err = d.within(func() error { return peer.context.EnablePeerAccess(0) })
	enabledBefore := code(err) == cuda.CodePeerAlreadyEnabled
	if err != nil && !enabledBefore {
		return callFailed(err, function, drivercall.Pair(d.guard.Info.Ordinal, peerOrdinal))
	}
	if !d.guard.HasPools() {
		return nil
	}
	pool, result := shim.DefaultPool(int(peer.handle))
	if result != shim.Success {
		return nil // the peer has no pools
	}
	if result = d.shim.PoolAllow(pool, int(d.handle)); result == shim.Success {
		return nil
	}
	err = failed(cuda.Code(result), "cuMemPoolSetAccess", drivercall.Pair(d.guard.Info.Ordinal, peerOrdinal))
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
		return callFailed(err, function, drivercall.Pair(d.guard.Info.Ordinal, peerOrdinal))
	}
	return nil
}

func (d *openDevice) PoolAllowPeer(pool backend.Pool, peerOrdinal int) error {
	const function = "cuMemPoolSetAccess"
	handle, err := d.guard.Pool(function, pool)
	if err != nil {
		return err
	}
	if err := d.guard.OtherPeer(function, peerOrdinal); err != nil {
		return err
	}
	peer, err := cu.GetDevice(peerOrdinal)
	if err != nil {
		return callFailed(err, "cuDeviceGet", drivercall.Device(peerOrdinal))
	}
	if result := d.shim.PoolAllow(handle, int(peer)); result != shim.Success {
		return failed(cuda.Code(result), function, drivercall.PoolAccess(d.guard.Info.Ordinal, peerOrdinal))
	}
	return nil
}

func (d *openDevice) CopyFromPeerAsync(destination, source backend.Pointer, peerOrdinal int, bytes uint64, stream backend.Stream) error {
	const function = "cuMemcpyPeerAsync"
	if proceed, err := d.guard.Copy(function, uintptr(destination), uintptr(source), bytes); !proceed {
		return err
	}
	peer, err := d.peer(function, peerOrdinal)
	if err != nil {
		return err
	}
	return copied(d.shim.CopyFromPeerAsync(uint64(destination), uint64(source), word(peer.context), bytes, uintptr(stream)), function, bytes)
}
