package memory

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

// useList records the streams that have work on a block, except the block's own
// stream: freeing is ordered on that stream anyway.
//
// A list is reused for later blocks. It belongs to the last generation that was
// recorded and is empty for a later one, so a block that only its own stream uses
// never touches it.
type useList struct {
	// shared is the last generation with uses on other streams.
	shared atomic.Uint64

	mu         sync.Mutex
	generation uint64
	streams    []*device.Stream
	// recorded counts the uses. All uses up to completed are known to have completed.
	recorded, completed uint64
	// own and ownCompleted are the same for uses on the block's own stream.
	own, ownCompleted uint64
	// settled is set while the contents are final, and written marks the uses before, on each
	// stream that had some, until they are known to have completed.
	settled bool
	written []*device.Event
}

// manyStreams is the number of other streams from which record drops the streams
// that have completed all work.
const manyStreams = 16

// begin resets the list for a generation newer than its own. It returns false for an
// older generation, and the caller then changes nothing. The allocation counts as a
// use: memory that was allocated in stream order is not ready for other streams yet.
func (u *useList) begin(generation uint64) bool {
	if u.generation < generation {
		u.generation, u.recorded, u.completed = generation, 1, 0
		u.own, u.ownCompleted = 1, 0
		u.clear()
		u.unsettle()
	}
	return u.generation == generation
}

func (u *useList) clear() {
	clear(u.streams)
	u.streams = u.streams[:0]
}

// record records a use. One that may write ends that the contents are final.
func (u *useList) record(generation uint64, own, stream *device.Stream, reads bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begin(generation) {
		return
	}
	if !reads {
		u.unsettle()
	}
	u.recorded++
	if stream.Equal(own) {
		u.own = u.recorded
		return
	}
	if stream.Device() != own.Device() {
		streamwork.Lend(stream)
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

// further returns the streams other than the block's own that may still have work on
// the block when it is freed.
func (u *useList) further(generation uint64) []*device.Stream {
	if u.shared.Load() != generation {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begin(generation) || u.completed == u.recorded {
		return nil
	}
	return slices.Clone(u.streams)
}

// pending returns the streams that may still have work on the block, including the
// block's own stream unless all its work is known to have completed. When the
// current work of these streams has completed, the caller passes the token to
// complete. If nothing is pending, ok is false.
func (u *useList) pending(generation uint64, own *device.Stream) (streams []*device.Stream, token uint64, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begin(generation) || u.completed == u.recorded {
		return nil, 0, false
	}
	streams = slices.Clone(u.streams)
	if u.own > max(u.completed, u.ownCompleted) {
		streams = append(streams, streamwork.Past(own))
	}
	return streams, u.recorded, true
}

// used reports whether any use was recorded besides the allocation.
func (u *useList) used(generation uint64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.begin(generation) && u.recorded > 1
}

// follows reports whether all work that may be pending is on the given stream, so
// that later work on it is already ordered.
func (u *useList) follows(generation uint64, own, stream *device.Stream) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begin(generation) || u.completed == u.recorded {
		return true
	}
	if u.own > max(u.completed, u.ownCompleted) && !stream.Equal(own) {
		return false
	}
	for _, other := range u.streams {
		if !stream.Equal(other) {
			return false
		}
	}
	return true
}

// complete records that every use up to the token has completed.
func (u *useList) complete(generation, token uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begin(generation) {
		return
	}
	u.completed = max(u.completed, token)
	if u.completed == u.recorded {
		u.clear()
	}
}

// completeOwn records that every use on the block's own stream up to the token has
// completed.
func (u *useList) completeOwn(generation, token uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.begin(generation) {
		u.ownCompleted = max(u.ownCompleted, token)
	}
}
