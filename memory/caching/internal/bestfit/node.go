package bestfit

// Node is a run of address space. Its first two fields belong to the [Space]; Mark,
// Owner, State and Pool belong to the caller, and this package does not read them.
//
// A node fills one cache line and holds no pointers.
type Node struct {
	// Address and Bytes are the position and length of the run. Only methods of
	// Space change them.
	Address, Bytes uint64
	// Mark is intended for the epoch of the last use.
	Mark uint64
	// Owner is intended for the number of the set to which the run belongs.
	Owner uint32
	// State is intended to record whether the run is free.
	State uint8
	// Pool is intended for the pool of the run's segment.
	Pool uint8

	// member is set while the node is in a set.
	member bool

	// self is the node's number; previous and next are those of its neighbours.
	self, previous, next uint32

	_ [16]byte
}
