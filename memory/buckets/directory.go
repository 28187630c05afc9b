package buckets

import (
	"maps"
	"slices"

	"github.com/gpuframe/gpuframe/device"
)

// directory maps streams to lanes. It is immutable, and replaced as a whole, so that
// readers take no lock.
type directory struct {
	byStream map[*device.Stream]*lane
	all      []*lane
}

// find returns the stream's lane, or nil. Two Stream values can represent the same
// queue of another library, because callers create such a Stream for each call.
func (d *directory) find(stream *device.Stream) *lane {
	if l, ok := d.byStream[stream]; ok {
		return l
	}
	for _, l := range d.all {
		if l.stream.Equal(stream) {
			return l
		}
	}
	return nil
}

// laneOf returns the stream's lane. It creates the lane at the first call.
func (r *Resource) laneOf(stream *device.Stream) *lane {
	if l := r.lanes.Load().find(stream); l != nil {
		return l
	}
	r.directoryLock.Lock()
	defer r.directoryLock.Unlock()
	old := r.lanes.Load()
	if l := old.find(stream); l != nil {
		return l
	}
	next := &directory{byStream: maps.Clone(old.byStream), all: slices.Clone(old.all)}
	next.all = slices.DeleteFunc(next.all, func(l *lane) bool {
		if !r.retire(l) {
			return false
		}
		delete(next.byStream, l.stream)
		return true
	})
	l := newLane(stream, r.bins)
	next.byStream[stream] = l
	next.all = append(next.all, l)
	r.lanes.Store(next)
	return l
}

// retire removes a lane with a closed stream and no memory, and keeps its statistics.
// It reports false if the lane is still needed. The caller holds directoryLock.
func (r *Resource) retire(l *lane) bool {
	if !l.stream.Closed() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts.inUseBlocks > 0 || l.counts.cachedBlocks > 0 {
		return false
	}
	l.retired = true
	l.counts.addTo(&r.retired)
	return true
}
