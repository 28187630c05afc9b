package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Options configure a [Player]. The zero value replays in the order of the log
// as fast as it goes.
type Options struct {
	// Concurrent lets the threads of the log go on side by side.
	Concurrent bool
	// Speed paces the requests by the times in the log: 1 for as fast as they
	// were logged, 10 for ten times as fast. Zero means not to wait at all.
	Speed float64
	// Progress is told now and then how many further requests were made. It is
	// called from several goroutines, and within the time that is taken.
	Progress func(requests int)
}

// Player replays a log against one resource. It keeps the streams from one run
// to the next, so that a resource that caches by stream finds again what it
// kept.
type Player struct {
	log      *Log
	resource resource.Resource
	options  Options
	streams  []*device.Stream
}

// NewPlayer makes the streams that the log needs. The caller closes the player,
// and the resource after that. It returns an error that wraps
// device.ErrInvalidValue for a negative speed.
func NewPlayer(log *Log, resource resource.Resource, options Options) (*Player, error) {
	if !(options.Speed >= 0) {
		return nil, fmt.Errorf("replay: Options.Speed is %v, it must not be negative: %w", options.Speed, device.ErrInvalidValue)
	}
	p := &Player{log: log, resource: resource, options: options}
	for _, key := range log.streams {
		if key == (streamKey{}) {
			p.streams = append(p.streams, resource.Device().DefaultStream())
			continue
		}
		stream, err := resource.Device().NewStream()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("replay: make stream %d of %d: %w", len(p.streams)+1, len(log.streams), err), p.Close())
		}
		p.streams = append(p.streams, stream)
	}
	return p, nil
}

// Close closes the streams.
func (p *Player) Close() error {
	var failures []error
	for i, stream := range p.streams {
		if p.log.streams[i] != (streamKey{}) {
			failures = append(failures, stream.Synchronize(context.Background()), stream.Close())
		}
	}
	p.streams = nil
	return errors.Join(failures...)
}
