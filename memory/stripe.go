package memory

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gpuframe/gpuframe/memory/internal/atomics"
)

// stripes spread what allocating and releasing write over goroutines. All figures
// change under the lock of some stripe: who holds them all sees figures of one
// moment. Locking one is cheap, for others are at work in other stripes.
type stripes struct {
	// dirty has a bit for every stripe whose tag caches are not empty.
	dirty atomic.Uint64
	// settled counts how often the caches of a stripe were emptied.
	settled atomic.Uint64
	all     [stripeCount]stripe
}

const stripeCount = 64

type stripe struct {
	mu     sync.Mutex
	number int
	of     *stripes
	caches [tagCacheCount]tagCache
	// drawn are the blocks that the resource may still be asked for.
	drawn []drawn
	// fresh are handles not yet given out.
	fresh []Block
	net   *safetyNet
	// idle are the states of released blocks.
	idle []*blockState
	_    atomics.CacheLine
}

// idleStates is how many states a stripe keeps; the others are left to the
// collector.
const idleStates = 256

func (s *stripes) open() {
	for i := range s.all {
		s.all[i].number, s.all[i].of = i, s
	}
}

// enter locks a stripe: most likely the one that the goroutine had before. The
// caller unlocks it.
func (s *stripes) enter() *stripe {
	// Goroutines differ in where their stacks are.
	var here byte
	const spread = 0x9E3779B97F4A7C15
	return s.near(int(uint64(uintptr(unsafe.Pointer(&here))>>11) * spread >> 58))
}

// near locks a given stripe or, if that stays locked, one after it.
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

// spins is how often a stripe is tried before the next one is: who has it needs it
// for some thirty nanoseconds, and to find credit elsewhere takes longer.
const spins = 16

// lockAll stops all changes of figures, and empties the caches so that the
// figures are exact.
func (s *stripes) lockAll() {
	for i := range s.all {
		s.all[i].mu.Lock()
	}
	for i := range s.all {
		s.all[i].settle()
	}
}

func (s *stripes) unlockAll() {
	for i := range s.all {
		s.all[i].mu.Unlock()
	}
}

// settle empties all caches, one stripe after the other. What is released
// meanwhile may be in one again.
func (s *stripes) settle() {
	for dirty := s.dirty.Load(); dirty != 0; dirty &= dirty - 1 {
		each := &s.all[bits.TrailingZeros64(dirty)]
		each.mu.Lock()
		each.settle()
		each.mu.Unlock()
	}
}

// state returns a state to use. The stripe is locked.
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

// put takes a state back. The stripe is locked.
func (s *stripe) put(state *blockState) {
	if len(s.idle) < idleStates && state.life.Load()>>referenceBits <= lastGeneration {
		s.idle = append(s.idle, state)
	}
}

// statesMade numbers the states of the process.
var statesMade atomic.Uint64

// handlesPerNet is how many handles are allocated, and watched by the collector,
// as one. A cleanup costs the runtime a third of a microsecond: shared by so many
// it costs next to nothing. The price is that a leak is found only when all
// handles that were allocated with it are gone.
const handlesPerNet = 32

// safetyNet is the backstop under a row of handles: it knows which states they
// were made for, and in which generation.
type safetyNet struct {
	// stripe is the one whose lock the handles were given out under.
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

// reclaim runs when none of the row's handles can be reached any more: a state
// that still is in the generation that a handle was made for was never released.
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

// dropRows lets go of handles that were not given out.
func (s *stripes) dropRows() {
	for i := range s.all {
		s.all[i].mu.Lock()
		s.all[i].fresh, s.all[i].net = nil, nil
		s.all[i].mu.Unlock()
	}
}
