package memory

import (
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
	"github.com/gpuframe/gpuframe/memory/internal/peers"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// worthConnecting is the copy length above which enabling peer access, a few driver
// calls, costs less than a copy through the host.
const worthConnecting = 1 << 20

// Connect lets the devices of the managers access each other's memory, if they can.
// Copies of any length between these managers then go directly from device to device.
// Without Connect the first copy of 1 MiB or more between two managers does this, and
// shorter copies before it go through the host.
//
// Memory that cannot be opened to another device stays usable: the driver copies it
// through the host. Managers that are nil are ignored.
func Connect(managers ...*Manager) {
	for _, a := range managers {
		for _, b := range managers {
			if a != nil && b != nil && a.device.Kind() == b.device.Kind() && !a.device.Same(b.device) {
				open(a.device, b)
			}
		}
	}
}

// connect enables peer access between the devices of two blocks if the devices
// support it and the copy is long. Without peer access the driver copies through the
// host, so errors are ignored.
func connect(destination, source *Block, bytes uint64) {
	if bytes < worthConnecting {
		return
	}
	open(destination.Device(), source.manager)
	open(source.Device(), destination.manager)
}

// open lets a device access the memory of a manager. Repeated calls are cheap.
func open(peer *device.Device, owner *Manager) {
	if !enable(peer, owner.device) {
		return
	}
	if sharer, ok := resource.Find[resource.PeerSharer](owner.resource); ok && sharer.Device().Same(owner.device) {
		_ = sharer.AllowPeer(peer)
	}
}

// enabled has the devices whose memory a device has access to.
type enabled struct {
	mu    sync.Mutex
	peers peers.Set
}

var enabledPeers perdevice.Cache[*enabled]

// enable enables the access of a device to the memory of another one, once, and reports
// whether the devices support it.
func enable(dev, other *device.Device) (can bool) {
	known, err := enabledPeers.Get(dev, func(*device.Device) (*enabled, error) { return new(enabled), nil })
	if err != nil {
		return false
	}
	if known.peers.Has(other) {
		return true
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.peers.Has(other) {
		return true
	}
	ordinal := other.Info().Ordinal
	if can, err := dev.Driver().CanAccessPeer(ordinal); err != nil || !can {
		return false
	}
	if dev.Driver().EnablePeerAccess(ordinal) != nil {
		return true // the memory may be accessible by other means
	}
	known.peers.Remove(other) // it may have been closed and opened again
	known.peers.Add(other)
	return true
}
