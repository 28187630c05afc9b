package drivercall

import (
	"sync"
	"sync/atomic"
)

// Peer checks that a device has the number, which may be the device's own.
func (g *Guard) Peer(function string, ordinal int) error {
	if err := g.Open(function); err != nil {
		return err
	}
	if ordinal < 0 || ordinal >= g.Devices {
		return MissingDevice(g.Backend, ordinal, g.Devices)
	}
	return nil
}

// OtherPeer checks that another device has the number.
func (g *Guard) OtherPeer(function string, ordinal int) error {
	if err := g.Peer(function, ordinal); err != nil {
		return err
	}
	if ordinal == g.Info.Ordinal {
		return g.Refuse(function, "device %d is the device itself: pass the number of another device", ordinal)
	}
	return nil
}

// Peers holds the primary contexts of the other devices that a device has used. They
// are retained until the device is closed, so that they outlive the peer's device.
type Peers[context any] struct {
	mutex    sync.Mutex // guards retaining and releasing
	released bool
	retained []atomic.Pointer[context] // by number of the device
}

// NewPeers has room for the contexts of count devices.
func NewPeers[context any](count int) *Peers[context] {
	return &Peers[context]{retained: make([]atomic.Pointer[context], count)}
}

// invalidContext is the driver's result for a context that was released.
const invalidContext = 201

// Get retains the context of a peer on first use. It returns the driver's result, 0 for
// success.
func (p *Peers[context]) Get(ordinal int, retain func(ordinal int) (context, int32)) (*context, int32) {
	if known := p.retained[ordinal].Load(); known != nil {
		return known, 0
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if known := p.retained[ordinal].Load(); known != nil {
		return known, 0
	}
	if p.released {
		return nil, invalidContext
	}
	peer, result := retain(ordinal)
	if result != 0 {
		return nil, result
	}
	p.retained[ordinal].Store(&peer)
	return &peer, 0
}

// Release calls release for each context. Get retains none afterwards.
func (p *Peers[context]) Release(release func(*context)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.released = true
	for ordinal := range p.retained {
		if peer := p.retained[ordinal].Swap(nil); peer != nil {
			release(peer)
		}
	}
}
