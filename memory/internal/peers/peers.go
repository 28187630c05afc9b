// Package peers lists the devices that may use memory of another device.
package peers

import (
	"slices"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
)

// Set is a set of devices. Readers take no lock. Only one goroutine may change it at a
// time.
type Set struct {
	list atomic.Pointer[[]*device.Device]
}

// All returns the devices. The caller must not change the slice.
func (s *Set) All() []*device.Device {
	if list := s.list.Load(); list != nil {
		return *list
	}
	return nil
}

// Has reports whether the set contains the device. A device that was closed and
// reopened counts as a different device.
func (s *Set) Has(peer *device.Device) bool {
	return slices.ContainsFunc(s.All(), func(other *device.Device) bool {
		return other.Same(peer) && other.Driver() == peer.Driver()
	})
}

// Add adds a device.
func (s *Set) Add(peer *device.Device) {
	list := append(slices.Clone(s.All()), peer)
	s.list.Store(&list)
}

// Remove removes a device, even if it was reopened since it was added.
func (s *Set) Remove(peer *device.Device) {
	list := slices.DeleteFunc(slices.Clone(s.All()), peer.Same)
	s.list.Store(&list)
}
