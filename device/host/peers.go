package host

import "github.com/gpuframe/gpuframe/device/backend"

// peer accepts only the ordinal of this device.
func (d *device) peer(operation string, ordinal int) error {
	if err := d.check(operation); err != nil {
		return err
	}
	if ordinal != 0 {
		return failure(operation, backend.ErrNoDevice, "peer %d: the host is device 0 and the only one", ordinal)
	}
	return nil
}

// CanAccessPeer is true for the device itself.
func (d *device) CanAccessPeer(peerOrdinal int) (bool, error) {
	err := d.peer("CanAccessPeer", peerOrdinal)
	return err == nil, err
}

// EnablePeerAccess does nothing: the device reaches its own memory.
func (d *device) EnablePeerAccess(peerOrdinal int) error {
	return d.peer("EnablePeerAccess", peerOrdinal)
}

// DisablePeerAccess has nothing to do.
func (d *device) DisablePeerAccess(peerOrdinal int) error {
	return d.peer("DisablePeerAccess", peerOrdinal)
}

// PoolAllowPeer is not supported, because no other host device exists.
func (d *device) PoolAllowPeer(_ backend.Pool, peerOrdinal int) error {
	if err := d.peer("PoolAllowPeer", peerOrdinal); err != nil {
		return err
	}
	return failure("PoolAllowPeer", backend.ErrNotSupported, "the host is the only device of its backend")
}

func (d *device) CopyFromPeerAsync(destination, source backend.Pointer, peerOrdinal int, bytes uint64, onStream backend.Stream) error {
	const operation = "CopyFromPeerAsync"
	if err := d.peer(operation, peerOrdinal); err != nil {
		return err
	}
	return d.copyLater(operation, address(destination), address(source), bytes, onStream)
}
