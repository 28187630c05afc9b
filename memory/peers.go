package memory

import "github.com/gpuframe/gpuframe/memory/resource"

// worthConnecting is the length of copies from which a few calls of the driver matter
// less than a copy that goes through the host.
const worthConnecting = 1 << 20

// connect lets the devices of two blocks reach each other's memory, if they can and the
// copy is long. Without it the driver copies through the host, so that an error does not
// matter. Doing it again costs four short calls of the driver.
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
