package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Options configure a [Player]. The zero value replays in the order of the log at
// full speed.
type Options struct {
	// Concurrent runs the threads of the log concurrently.
	Concurrent bool
	// Speed paces the requests by the times in the log: 1 is the speed of the log,
	// 10 is ten times that speed. Zero means not to wait at all.
	Speed float64
	// Progress is called periodically with the number of requests made since the
	// last call. It is called from several goroutines, and its time is included in
	// the measurement.
	Progress func(requests int)
}

// Player replays a log against one resource. It keeps its streams from one run to
// the next, so that a resource that caches by stream can reuse its cached memory.
type Player struct {
	log      *Log
	resource resource.Resource
	options  Options
	streams  []*device.Stream
}

// NewPlayer returns a player and creates the streams of the log. It returns an error
// that wraps device.ErrInvalidValue if the speed is negative. The caller must close
// the player before the resource.
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
