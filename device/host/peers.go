package host

import "github.com/gpuframe/gpuframe/device/backend"

// peer accepts the ordinals of the driver's devices.
func (d *device) peer(operation string, ordinal int) error {
	if err := d.check(operation); err != nil {
		return err
	}
	return d.driver.checkOrdinal(operation, "peer", ordinal)
}

// reaches reports whether the driver lets the device use a peer's memory.
func (d *device) reaches(ordinal int) bool {
	return !d.driver.NoPeers || ordinal == d.info.Ordinal
}

// CanAccessPeer is true for the device itself.
func (d *device) CanAccessPeer(peerOrdinal int) (bool, error) {
	if err := d.peer("CanAccessPeer", peerOrdinal); err != nil {
		return false, err
	}
	return d.reaches(peerOrdinal), nil
}

// EnablePeerAccess does nothing: the devices have one memory.
func (d *device) EnablePeerAccess(peerOrdinal int) error {
	return d.reach("EnablePeerAccess", peerOrdinal)
}

// DisablePeerAccess has nothing to do.
func (d *device) DisablePeerAccess(peerOrdinal int) error {
	return d.peer("DisablePeerAccess", peerOrdinal)
}

// PoolAllowPeer is not supported, because the pools of all devices are the same.
func (d *device) PoolAllowPeer(_ backend.Pool, peerOrdinal int) error {
	if err := d.peer("PoolAllowPeer", peerOrdinal); err != nil {
		return err
	}
	return failure("PoolAllowPeer", backend.ErrNotSupported, "the devices of the host share their pools")
}

func (d *device) reach(operation string, ordinal int) error {
	if err := d.peer(operation, ordinal); err != nil {
		return err
	}
	if !d.reaches(ordinal) {
		return failure(operation, backend.ErrNotSupported, "device %d cannot access the memory of device %d", d.info.Ordinal, ordinal)
	}
	return nil
}

func (d *device) CopyFromPeerAsync(destination, source backend.Pointer, peerOrdinal int, bytes uint64, onStream backend.Stream) error {
	const operation = "CopyFromPeerAsync"
	if err := d.reach(operation, peerOrdinal); err != nil {
		return err
	}
	return d.copyLater(operation, address(destination), address(source), bytes, onStream)
}
