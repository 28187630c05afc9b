package caching

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// AllowPeer implements [resource.PeerSharer]. With fixed segments it calls the
// upstream.
func (r *Resource) AllowPeer(peer *device.Device) error {
	mapped, ok := r.segments.(*mappedSegments)
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

// allowPeer gives a peer access to the mapped memory, with one call for each
// contiguous range. Memory mapped later becomes accessible when it is mapped. The
// first copy calls this function, because each call takes time and few programs copy
// between GPUs.
func (g *mappedSegments) allowPeer(peer *device.Device) error {
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

// allowPeers gives the peers access to newly mapped memory. A peer for which that
// fails, because it was closed or lacks memory for its page tables, is removed from
// the set, and the next copy tries again. The memory is usable on its own device in
// any case.
func (g *mappedSegments) allowPeers(at, bytes uint64) {
	for _, peer := range g.peers.All() {
		if peer.Driver().SetAccess(device.Pointer(at), bytes) != nil {
			g.peers.Remove(peer)
		}
	}
}

// stretches returns the addresses and lengths of contiguous mapped memory.
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
