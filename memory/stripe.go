package memory

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// stripes spread what allocating and releasing write over goroutines. All figures
// change under the lock of some stripe: who holds them all sees figures of one
// moment. Locking one is cheap, for others are at work in other stripes.
type stripes struct {
	// dirty has a bit for every stripe whose purses are not empty.
	dirty atomic.Uint64
	all   [stripeCount]stripe
}

const stripeCount = 64

type stripe struct {
	mu     sync.Mutex
	number int
	of     *stripes
	purses [purseCount]purse
	// fresh are handles not yet given out.
	fresh []Block
	net   *safetyNet
	// idle are the states of released blocks.
	idle []*blockState
	_    cacheLine
}

// idleStates is how many states a stripe keeps; the others are left to the
// collector.
const idleStates = 256

func (s *stripes) open() {
	for i := range s.all {
		s.all[i].number, s.all[i].of = i, s
	}
}

// enter locks a stripe. The caller unlocks it.
func (s *stripes) enter() *stripe {
	// Goroutines differ in where their stacks are.
	var here byte
	const spread = 0x9E3779B97F4A7C15
	start := uint64(uintptr(unsafe.Pointer(&here))>>11) * spread >> 58
	for i := range uint64(stripeCount) {
		if each := &s.all[(start+i)%stripeCount]; each.mu.TryLock() {
			return each
		}
	}
	each := &s.all[start]
	each.mu.Lock()
	return each
}

// lockAll stops all changes of figures, and empties the purses so that the
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

// settle empties all purses, one stripe after the other. What is released
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
		return &blockState{number: statesMade.Add(1)}
	}
	state := s.idle[last]
	s.idle = s.idle[:last]
	return state
}

// put takes a state back. The stripe is locked.
func (s *stripe) put(state *blockState) {
	if len(s.idle) < idleStates {
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

// safetyNet is the backstop under a row of handles: it knows what those that were
// not released yet stand for.
type safetyNet struct {
	caught [handlesPerNet]atomic.Pointer[blockState]
}

// handle returns a handle for a state. The stripe is locked.
func (s *stripe) handle(state *blockState, alone, netless bool) *Block {
	if alone && !netless {
		return loneHandle(state)
	}
	if len(s.fresh) == 0 || !netless && s.net == nil {
		s.weave(netless)
	}
	at := handlesPerNet - len(s.fresh)
	handle := &s.fresh[0]
	s.fresh = s.fresh[1:]
	if netless {
		state.net = nil
		return handle
	}
	state.net = &s.net.caught[at]
	state.net.Store(state)
	return handle
}

// weave makes a new row of handles.
func (s *stripe) weave(netless bool) {
	row := new([handlesPerNet]Block)
	s.fresh, s.net = row[:], nil
	if !netless {
		s.net = new(safetyNet)
		runtime.AddCleanup(row, (*safetyNet).reclaim, s.net)
	}
}

// loneHandle returns a handle whose leak is found as soon as it is collected.
func loneHandle(state *blockState) *Block {
	handle := new(Block)
	net := new(safetyNet)
	state.net = &net.caught[0]
	state.net.Store(state)
	runtime.AddCleanup(handle, (*safetyNet).reclaim, net)
	return handle
}

// reclaim runs when none of the row's handles can be reached any more.
func (n *safetyNet) reclaim() {
	for i := range n.caught {
		if state := n.caught[i].Load(); state != nil {
			state.reclaim()
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
