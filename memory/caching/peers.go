package caching

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// AllowPeer implements [resource.PeerSharer]. Fixed segments are for the resource below.
func (r *Resource) AllowPeer(peer *device.Device) error {
	mapped, ok := r.ground.(*mappedGround)
	if !ok {
		if below, ok := resource.Find[resource.PeerSharer](r.options.Upstream); ok {
			return below.AllowPeer(peer)
		}
		return nil
	}
	if mapped.peers.Has(peer) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return mapped.allowPeer(peer)
}

// allowPeer opens what is mapped to a peer, with one call for each stretch without a
// gap. Later growth is opened when it is mapped. The driver is asked only once somebody
// copies: each call costs time, and nearly no program copies between GPUs.
func (g *mappedGround) allowPeer(peer *device.Device) error {
	if g.peers.Has(peer) {
		return nil
	}
	g.peers.Remove(peer) // it may have been closed and opened again
	for i := range g.pools {
		for address, bytes := range g.pools[i].stretches() {
			if err := peer.Driver().SetAccess(device.Pointer(address), bytes); err != nil {
				return fmt.Errorf("memory: caching resource: let %s use it: %w", peer, err)
			}
		}
	}
	g.peers.Add(peer)
	return nil
}

// open opens what was mapped just now to the peers. A peer that cannot have it, because
// it was closed or lacks memory for its page tables, is a peer no longer: the next copy
// tries again. The memory serves its own device in any case.
func (g *mappedGround) open(at, bytes uint64) {
	for _, peer := range g.peers.All() {
		if peer.Driver().SetAccess(device.Pointer(at), bytes) != nil {
			g.peers.Remove(peer)
		}
	}
}

// stretches returns the addresses and lengths of what is mapped without a gap.
func (p *mappedRange) stretches() func(yield func(address, bytes uint64) bool) {
	return func(yield func(address, bytes uint64) bool) {
		for from := 0; from < len(p.mapped); {
			address, bytes := p.mapped[from].address, uint64(0)
			for from < len(p.mapped) && p.mapped[from].address == address+bytes {
				bytes += p.mapped[from].bytes
				from++
			}
			if !yield(address, bytes) {
				return
			}
		}
	}
}
