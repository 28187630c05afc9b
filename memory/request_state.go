package memory

// A request that finds too little memory is driven by two state machines: its own, which
// says what it does next, and that of its place in the queue, which says whether it may
// have bytes.
//
// The request (attempt.run):
//
//	             bytes reserved             the device has memory
//	  reserving ────────────────▶ asking ────────────────────────▶ succeeded
//	   ▲  ▲ │                      ▲  │
//	   │  │ │ no budget            │  │ the device refuses
//	   │  │ ▼                      │  ▼
//	   │  │ failed ◀───────────────┼─ shortOnDevice
//	   │  │         no release     │  │  │  │
//	   │  │         can help       │  │  │  │ blocks are in use
//	   │  └────────────────────────┼──┘  │  ▼
//	   │   memory was reclaimed,   └─────┼─ awaitingRelease ──▶ failed
//	   │   or try once more     granted  │                   context done
//	   │                                 │ other requests are in progress
//	   └───────────────────────── awaitingOthers ──▶ failed
//	        they have ended                       context done, or in vain
//
// The place in the queue (waiter.place); every change is under the queue's lock:
//
//	                     enter                      bytes reserved
//	  outside ─────────────────────▶ waitingForBudget ───────────▶ granted
//	   ▲  ▲ │                         ▲   │  │  ▲ │
//	   │  │ │ enter after the device  │   │  │  │ │ bytes reserved, and the
//	   │  │ │ refused                 │   │  │  │ │ device has refused before
//	   │  │ ▼           a block was   │   │  │  │ ▼
//	   │  waitingForRelease ──────────┘   │  │  trying
//	   │   released   ▲                   │  │   │ │
//	   │              └───────────────────┼──┼───┘ │ leave
//	   │               the device refused │  │     ▼
//	   └──────────────────────────────────┘  │  outside
//	      context done                       ▼
//	                                      refused: the manager was closed, the budget can
//	                                      never hold the request, or it has had its turn
//
// granted and refused have left the queue; the request may enter again from both.

// requestState is what a request does next.
type requestState uint8

const (
	// reserving takes the bytes from the budgets, waiting for them if the mode says so.
	reserving requestState = iota
	// asking asks the resource for memory; the bytes are reserved.
	asking
	// shortOnDevice decides what to do after the device had no memory.
	shortOnDevice
	// awaitingRelease waits in the queue until a block is released and the bytes are
	// reserved again.
	awaitingRelease
	// awaitingOthers waits until requests that are in progress have ended. No blocks are
	// in use, so no release will come.
	awaitingOthers
	// succeeded has a block, failed an error.
	succeeded
	failed
)

// requestTransitions are the states that may follow each state. Tests check them.
var requestTransitions = map[requestState][]requestState{
	reserving:       {asking, failed},
	asking:          {succeeded, shortOnDevice, failed},
	shortOnDevice:   {reserving, awaitingRelease, awaitingOthers, failed},
	awaitingRelease: {asking, failed},
	awaitingOthers:  {reserving, failed},
}

// placeState is the place of a request in the queue.
type placeState uint8

const (
	// outside is not in the queue: before it enters, or after it has left.
	outside placeState = iota
	// waitingForBudget waits until its budgets have room, and requests ahead permit.
	waitingForBudget
	// waitingForRelease was refused by the device. It is not tried before the next
	// release.
	waitingForRelease
	// trying has its bytes and asks the device again. It keeps its place: otherwise the
	// memory that it needs would never come together.
	trying
	// granted has left the queue with its bytes reserved.
	granted
	// refused has left the queue without.
	refused
)

// placeTransitions are the states that may follow each state. Tests check them.
var placeTransitions = map[placeState][]placeState{
	outside:           {waitingForBudget, waitingForRelease},
	waitingForBudget:  {granted, trying, refused, outside},
	waitingForRelease: {waitingForBudget, refused, outside},
	trying:            {waitingForBudget, waitingForRelease, outside},
	granted:           {waitingForBudget, waitingForRelease},
	refused:           {waitingForBudget},
}

// queued reports whether the request is in the queue and undecided.
func (p placeState) queued() bool { return p == waitingForBudget || p == waitingForRelease }

// observer sees every transition. Only tests set one.
type observer struct {
	request func(from, to requestState)
	place   func(from, to placeState)
}
