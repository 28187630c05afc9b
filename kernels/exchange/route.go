package exchange

import (
	"fmt"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
)

// Means is how memory moves from one device to another.
type Means uint8

const (
	// Shared means that both are one device: nothing moves.
	Shared Means = iota
	// PeerCopy means that the driver copies from device to device.
	PeerCopy
	// Pinned means that memory moves through pinned host memory, in rounds.
	Pinned
)

// String names the means.
func (m Means) String() string {
	switch m {
	case Shared:
		return "same device"
	case PeerCopy:
		return "peer copy"
	}
	return "pinned memory"
}

// Route is the way of memory from one device to another.
type Route struct {
	// From and To are the names of the devices.
	From, To string
	Means    Means
	// Reason is why the devices do not copy directly. It is empty if they do.
	Reason string
}

// String formats the route on one line.
func (r Route) String() string {
	text := fmt.Sprintf("%s to %s: %s", r.From, r.To, r.Means)
	if r.Reason != "" {
		text += " (" + r.Reason + ")"
	}
	return text
}

// reachable has, for each device, whether it can access the memory of others, by their ordinals.
var reachable perdevice.Cache[*sync.Map]

// canAccess asks the driver once for each pair of devices.
func canAccess(dev *device.Device, other int) (bool, error) {
	known, err := reachable.Get(dev, func(*device.Device) (*sync.Map, error) { return new(sync.Map), nil })
	if err != nil {
		return false, err
	}
	if can, ok := known.Load(other); ok {
		return can.(bool), nil
	}
	can, err := dev.Driver().CanAccessPeer(other)
	if err == nil {
		known.Store(other, can)
	}
	return can, err
}

// RouteBetween returns how the functions of this package move memory from a device to
// another.
//
// # Errors
//
// The error is that of the driver.
func RouteBetween(from, to *device.Device) (Route, error) {
	if from == nil || to == nil {
		return Route{}, fmt.Errorf("exchange: a device is nil: %w", device.ErrInvalidValue)
	}
	route := Route{From: from.Name(), To: to.Name()}
	switch {
	case from.Same(to):
		return route, nil
	case from.Kind() != to.Kind():
		route.Means, route.Reason = Pinned, "the devices are of different kinds"
		return route, nil
	}
	can, err := canAccess(to, from.Info().Ordinal)
	if err != nil {
		return Route{}, fmt.Errorf("exchange: peer access of %s to %s: %w", to, from, err)
	}
	if route.Means = PeerCopy; !can {
		route.Means, route.Reason = Pinned, fmt.Sprintf("%s cannot access the memory of %s", to, from)
	}
	return route, nil
}
