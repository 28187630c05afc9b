package memory

import (
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/device"
)

// useList knows which streams have work on a block. The block's own stream is
// not in it: freeing is ordered on that one anyway.
type useList struct {
	mu sync.Mutex
	// generation is that of the block whose list this is now. A list serves one
	// block after another; who still means an earlier one changes nothing.
	generation uint32
	further    []*device.Stream
	// recorded counts the uses, settled is the count up to which all of them
	// are known to be done.
	recorded, settled uint64
}

// manyStreams is the number of further streams from which those that are done
// with everything are forgotten.
const manyStreams = 16

// reset begins a new life. The allocation itself counts as a use: memory that
// was allocated in stream order is not ready for other streams yet.
func (u *useList) reset(generation uint32) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.generation = generation
	u.clear()
	u.recorded, u.settled = 1, 0
}

func (u *useList) clear() {
	clear(u.further)
	u.further = u.further[:0]
}

func (u *useList) record(generation uint32, own, stream *device.Stream) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.generation != generation {
		return
	}
	u.recorded++
	if stream.Equal(own) || slices.ContainsFunc(u.further, stream.Equal) {
		return
	}
	if len(u.further) >= manyStreams {
		u.further = slices.DeleteFunc(u.further, func(s *device.Stream) bool {
			done, err := s.Done()
			return done && err == nil
		})
	}
	u.further = append(u.further, stream)
}

// pending returns the further streams that may still be at work, and a token to
// hand to settle once everything they and the own stream have now is done. With
// nothing pending ok is false.
func (u *useList) pending(generation uint32) (further []*device.Stream, token uint64, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.generation != generation || u.settled == u.recorded {
		return nil, 0, false
	}
	return slices.Clone(u.further), u.recorded, true
}

// settle notes that every use up to the token is done.
func (u *useList) settle(generation uint32, token uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.generation != generation {
		return
	}
	u.settled = max(u.settled, token)
	if u.settled == u.recorded {
		u.clear()
	}
}
