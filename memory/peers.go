package memory

import "github.com/gpuframe/gpuframe/memory/resource"

// worthConnecting is the copy length above which enabling peer access, a few driver
// calls, costs less than a copy through the host.
const worthConnecting = 1 << 20

// connect enables peer access between the devices of two blocks if the devices
// support it and the copy is long. Without peer access the driver copies through the
// host, so errors are ignored. Repeating the calls costs four short driver calls.
func connect(destination, source *Block, bytes uint64) {
	if bytes < worthConnecting {
		return
	}
	for _, pair := range [][2]*Block{{destination, source}, {source, destination}} {
		peer, owner := pair[0].Device(), pair[1]
		other := owner.Device().Info().Ordinal
		if can, err := peer.Driver().CanAccessPeer(other); err != nil || !can {
			continue
		}
		_ = peer.Driver().EnablePeerAccess(other)
		if sharer, ok := resource.Find[resource.PeerSharer](owner.manager.resource); ok && sharer.Device().Same(owner.Device()) {
			_ = sharer.AllowPeer(peer)
		}
	}
}
