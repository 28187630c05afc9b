package memory

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/streamwork"
)

// useList knows which streams have work on a block. The block's own stream is
// not in it: freeing is ordered on that one anyway.
//
// A list serves one block after another. It belongs to the last generation that
// was recorded; for a later one it is empty, so that a block nobody else uses
// never touches it.
type useList struct {
	// shared is the last generation that has further streams.
	shared atomic.Uint64

	mu         sync.Mutex
	generation uint64
	streams    []*device.Stream
	// recorded counts the uses, settled is the count up to which all of them
	// are known to be done.
	recorded, settled uint64
	// own and ownSettled are the same for those on the block's own stream.
	own, ownSettled uint64
}

// manyStreams is the number of further streams from which those that are done
// with everything are forgotten.
const manyStreams = 16

// begin makes the list that of a generation. It reports whether it is, for who
// still means an earlier one changes nothing. The allocation itself counts as a
// use: memory that was allocated in stream order is not ready for other streams
// yet.
func (u *useList) begin(generation uint64) bool {
	if u.generation < generation {
		u.generation, u.recorded, u.settled = generation, 1, 0
		u.own, u.ownSettled = 1, 0
		u.clear()
	}
	return u.generation == generation
}

func (u *useList) clear() {
	clear(u.streams)
	u.streams = u.streams[:0]
}

func (u *useList) record(generation uint64, own, stream *device.Stream) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begin(generation) {
		return
	}
	u.recorded++
	if stream.Equal(own) {
		u.own = u.recorded
		return
	}
	stream = streamwork.Past(stream)
	if slices.ContainsFunc(u.streams, stream.Equal) {
		return
	}
	if len(u.streams) >= manyStreams {
		u.streams = slices.DeleteFunc(u.streams, func(s *device.Stream) bool {
			done, err := s.Done()
			return done && err == nil
		})
	}
	u.streams = append(u.streams, stream)
	u.shared.Store(generation)
}

// further returns the streams besides the own one that may still be at work when
// a block is freed.
func (u *useList) further(generation uint64) []*device.Stream {
	if u.shared.Load() != generation {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begin(generation) || u.settled == u.recorded {
		return nil
	}
	return slices.Clone(u.streams)
}

// pending returns the streams that may still be at work, the block's own with them
// unless everything on that is known to be done, and a token to hand to settle once
// everything they have now is done. With nothing pending ok is false.
func (u *useList) pending(generation uint64, own *device.Stream) (streams []*device.Stream, token uint64, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begin(generation) || u.settled == u.recorded {
		return nil, 0, false
	}
	streams = slices.Clone(u.streams)
	if u.own > max(u.settled, u.ownSettled) {
		streams = append(streams, streamwork.Past(own))
	}
	return streams, u.recorded, true
}

// follows reports whether everything that may be pending is on the given stream, so
// that work there is in order anyway.
func (u *useList) follows(generation uint64, own, stream *device.Stream) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begin(generation) || u.settled == u.recorded {
		return true
	}
	if u.own > max(u.settled, u.ownSettled) && !stream.Equal(own) {
		return false
	}
	for _, other := range u.streams {
		if !stream.Equal(other) {
			return false
		}
	}
	return true
}

// settle notes that every use up to the token is done.
func (u *useList) settle(generation, token uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begin(generation) {
		return
	}
	u.settled = max(u.settled, token)
	if u.settled == u.recorded {
		u.clear()
	}
}

// settleOwn notes that every use up to the token that is on the own stream is done.
func (u *useList) settleOwn(generation, token uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.begin(generation) {
		u.ownSettled = max(u.ownSettled, token)
	}
}
