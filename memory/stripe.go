package memory

import (
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gpuframe/gpuframe/memory/internal/atomics"
)

// stripes distribute the data that allocating and releasing write over goroutines.
// All statistics change under the lock of some stripe: a caller that holds all locks
// sees a consistent state. Locking one stripe is cheap, because other goroutines use
// other stripes.
type stripes struct {
	// dirty has a bit for every stripe with non-empty tag caches.
	dirty atomic.Uint64
	// flushes counts how often the caches of a stripe were emptied.
	flushes atomic.Uint64
	all     [stripeCount]stripe
}

const stripeCount = 64

type stripe struct {
	mu      sync.Mutex
	number  int
	stripes *stripes
	caches  [tagCacheCount]tagCache
	// drawn are blocks with bytes from a tag cache that the resource may not have
	// delivered yet.
	drawn []drawn
	// fresh are handles that have not been handed out.
	fresh []Block
	net   *safetyNet
	// idle are the states of released blocks.
	idle []*blockState
	// untilSample is the number of bytes until the next sample: see observer.go.
	untilSample int64
	// events are the last events of the stripe, and eventCount counts them: see events.go.
	events     *eventChunk
	eventCount uint64
	_          atomics.CacheLine
}

// idleStates is the maximum number of idle states that a stripe keeps; the garbage
// collector frees the others.
const idleStates = 256

func (s *stripes) open() {
	for i := range s.all {
		s.all[i].number, s.all[i].stripes, s.all[i].untilSample = i, s, math.MaxInt64
	}
}

// enter locks a stripe, most likely the one that the goroutine used before. The
// caller unlocks it.
func (s *stripes) enter() *stripe {
	// Goroutines have different stack addresses.
	var here byte
	const spread = 0x9E3779B97F4A7C15
	return s.near(int(uint64(uintptr(unsafe.Pointer(&here))>>11) * spread >> 58))
}

// near locks the given stripe, or another one if that stripe stays locked.
func (s *stripes) near(number int) *stripe {
	if each := &s.all[number]; each.mu.TryLock() {
		return each
	}
	for i := range stripeCount {
		each := &s.all[(number+i)%stripeCount]
		for range spins {
			if each.mu.TryLock() {
				return each
			}
		}
	}
	each := &s.all[number]
	each.mu.Lock()
	return each
}

// home locks the stripe that a block was made in.
func (s *stripes) home(state *blockState) *stripe {
	each := &s.all[state.stripe]
	each.mu.Lock()
	return each
}

// spins is the number of attempts to lock a stripe before trying the next one. A
// goroutine holds a stripe for about thirty nanoseconds, which is less than the time
// to find credit in another stripe.
const spins = 16

// lockAll stops all changes of statistics and empties the caches, so that the
// statistics are exact.
func (s *stripes) lockAll() {
	for i := range s.all {
		s.all[i].mu.Lock()
	}
	for i := range s.all {
		s.all[i].flush()
	}
}

func (s *stripes) unlockAll() {
	for i := range s.all {
		s.all[i].mu.Unlock()
	}
}

// flush empties all caches, one stripe at a time. Blocks released concurrently may
// fill a cache again.
func (s *stripes) flush() {
	for dirty := s.dirty.Load(); dirty != 0; dirty &= dirty - 1 {
		each := &s.all[bits.TrailingZeros64(dirty)]
		each.mu.Lock()
		each.flush()
		each.mu.Unlock()
	}
}

// state returns an idle or new state. The stripe is locked.
func (s *stripe) state() *blockState {
	last := len(s.idle) - 1
	if last < 0 {
		state := &blockState{number: statesMade.Add(1)}
		state.life.Store(newLife(1))
		return state
	}
	state := s.idle[last]
	s.idle = s.idle[:last]
	return state
}

// put keeps a state for reuse. The stripe is locked.
func (s *stripe) put(state *blockState) {
	if len(s.idle) < idleStates && state.life.Load()>>referenceBits <= lastGeneration {
		s.idle = append(s.idle, state)
	}
}

// statesMade numbers the states of the process.
var statesMade atomic.Uint64

// handlesPerNet is the number of handles that are allocated, and watched by the
// garbage collector, as a group. A cleanup costs the runtime a third of a
// microsecond; shared by 32 handles it costs almost nothing. In exchange, a leak is
// found only when all handles of its group have become unreachable.
const handlesPerNet = 32

// safetyNet is the leak backstop of a group of handles: it records the state and
// generation of each handle.
type safetyNet struct {
	// stripe is the stripe under which the handles were handed out.
	stripe *stripe
	under  [handlesPerNet]struct {
		state      *blockState
		generation uint64
	}
}

// handle returns a handle for a generation of a state. The stripe is locked.
func (s *stripe) handle(state *blockState, generation uint64, alone, netless bool) *Block {
	if netless {
		if len(s.fresh) == 0 {
			s.fresh = new([handlesPerNet]Block)[:]
		}
		handle := &s.fresh[0]
		s.fresh = s.fresh[1:]
		return handle
	}
	if alone {
		handle := new(Block)
		net := &safetyNet{stripe: s}
		net.under[0].state, net.under[0].generation = state, generation
		runtime.AddCleanup(handle, (*safetyNet).reclaim, net)
		return handle
	}
	if len(s.fresh) == 0 {
		row := new([handlesPerNet]Block)
		s.fresh, s.net = row[:], &safetyNet{stripe: s}
		runtime.AddCleanup(row, (*safetyNet).reclaim, s.net)
	}
	under := &s.net.under[handlesPerNet-len(s.fresh)]
	under.state, under.generation = state, generation
	handle := &s.fresh[0]
	s.fresh = s.fresh[1:]
	return handle
}

// reclaim runs when all handles of the group are unreachable: a state that is still
// in the generation of its handle was never released.
func (n *safetyNet) reclaim() {
	n.stripe.mu.Lock()
	under := n.under
	n.stripe.mu.Unlock()
	for _, each := range under {
		if each.state != nil && each.state.life.Load()>>referenceBits == each.generation {
			each.state.reclaim(each.generation)
		}
	}
}

// dropRows drops the handles that have not been handed out.
func (s *stripes) dropRows() {
	for i := range s.all {
		s.all[i].mu.Lock()
		s.all[i].fresh, s.all[i].net = nil, nil
		s.all[i].mu.Unlock()
	}
}
