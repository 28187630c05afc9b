package memory

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
)

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
		if sharer, ok := FindResource[peerSharer](owner.manager.resource); ok && sharer.Device().Same(owner.Device()) {
			_ = sharer.allowPeer(peer)
		}
	}
}

// peerSharer is a resource whose memory other devices can use only after it has let
// them. EnablePeerAccess covers only the driver's ordinary allocations and its default
// pool.
type peerSharer interface {
	Resource
	// allowPeer lets another device, which can reach memory of this one, use the
	// memory of the resource, also that which it gets later. Doing it again costs
	// nothing. After an error the memory is as usable on its own device as before.
	allowPeer(peer *device.Device) error
}

// peerSet is the devices that can use memory of another one. Readers take no lock.
type peerSet struct {
	list atomic.Pointer[[]*device.Device]
}

func (p *peerSet) all() []*device.Device {
	if list := p.list.Load(); list != nil {
		return *list
	}
	return nil
}

// has does not take a device that was opened again for the one that was closed.
func (p *peerSet) has(peer *device.Device) bool {
	return slices.ContainsFunc(p.all(), func(other *device.Device) bool {
		return other.Same(peer) && other.Driver() == peer.Driver()
	})
}

// add and remove are called by one goroutine at a time.
func (p *peerSet) add(peer *device.Device) {
	list := append(slices.Clone(p.all()), peer)
	p.list.Store(&list)
}

func (p *peerSet) remove(peer *device.Device) {
	list := slices.DeleteFunc(slices.Clone(p.all()), peer.Same)
	p.list.Store(&list)
}

// allowPeer implements peerSharer. Fixed segments are for the resource below.
func (r *CachingResource) allowPeer(peer *device.Device) error {
	mapped, ok := r.ground.(*mappedGround)
	if !ok {
		if below, ok := FindResource[peerSharer](r.options.Upstream); ok {
			return below.allowPeer(peer)
		}
		return nil
	}
	if mapped.peers.has(peer) {
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
	if g.peers.has(peer) {
		return nil
	}
	g.peers.remove(peer) // it may have been closed and opened again
	for i := range g.pools {
		for address, bytes := range g.pools[i].stretches() {
			if err := peer.Driver().SetAccess(device.Pointer(address), bytes); err != nil {
				return fmt.Errorf("memory: caching resource: let %s use it: %w", peer, err)
			}
		}
	}
	g.peers.add(peer)
	return nil
}

// open opens what was mapped just now to the peers. A peer that cannot have it, because
// it was closed or lacks memory for its page tables, is a peer no longer: the next copy
// tries again. The memory serves its own device in any case.
func (g *mappedGround) open(at, bytes uint64) {
	for _, peer := range g.peers.all() {
		if peer.Driver().SetAccess(device.Pointer(at), bytes) != nil {
			g.peers.remove(peer)
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

// allowPeer implements peerSharer.
func (r *StreamOrderedResource) allowPeer(peer *device.Device) error {
	if r.peers.has(peer) {
		return nil
	}
	r.allowing.Lock()
	defer r.allowing.Unlock()
	if r.peers.has(peer) {
		return nil
	}
	if err := r.device.Driver().PoolAllowPeer(r.pool, peer.Info().Ordinal); err != nil {
		return fmt.Errorf("memory: stream-ordered resource: let %s use it: %w", peer, err)
	}
	r.peers.add(peer)
	return nil
}
