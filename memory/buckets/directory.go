package buckets

import (
	"maps"
	"slices"

	"github.com/gpuframe/gpuframe/device"
)

// directory finds the lane of a stream. It is replaced, never changed, so that
// it is read without a lock.
type directory struct {
	byStream map[*device.Stream]*lane
	all      []*lane
}

// find returns the stream's lane, or nil. Two Streams may stand for one queue of
// another library, and such ones are made anew for every call.
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

// laneOf returns the stream's lane, which is made when it is first asked for.
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

// retire ends a lane that will not be used again, and keeps its figures. The
// lock of the directory is held.
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
