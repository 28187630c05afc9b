package memory

// Two state machines drive a request that finds too little memory: requestState is its
// next step; placeState is its place in the queue, which decides whether it gets bytes.
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
//	   │   or try again         granted  │                   context done
//	   │                                 │ other requests are in progress
//	   └───────────────────────── awaitingOthers ──▶ failed
//	        they have ended                       context done, or too many rounds
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
//	                                      never hold the request, or its turn came and
//	                                      there was too little memory
//
// In the states granted and refused the request has left the queue. It may enter again
// from both.

// requestState is the next step of a request.
type requestState uint8

const (
	// reserving reserves the bytes in the budgets, and waits for them if the mode
	// allows.
	reserving requestState = iota
	// asking allocates from the resource; the bytes are reserved.
	asking
	// shortOnDevice chooses the next step after the device had no memory.
	shortOnDevice
	// awaitingRelease waits in the queue until a block is released and the bytes are
	// reserved again.
	awaitingRelease
	// awaitingOthers waits until the requests in progress have ended. No blocks are
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
	// outside is not in the queue: it has not entered or has left.
	outside placeState = iota
	// waitingForBudget waits until its budgets have room and the requests ahead of
	// it allow it.
	waitingForBudget
	// waitingForRelease was refused by the device. It is not tried before the next
	// release.
	waitingForRelease
	// trying has its bytes reserved and allocates from the device again. It keeps
	// its place; otherwise other requests could take the memory that it needs.
	trying
	// granted has left the queue with its bytes reserved.
	granted
	// refused has left the queue without bytes.
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

// observer is called for every transition. Only tests set it.
type observer struct {
	request func(from, to requestState)
	place   func(from, to placeState)
}
