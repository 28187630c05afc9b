package bestfit

// Node is a run of address space. Its first two fields belong to the [Space];
// Mark, Owner, State and Pool are the caller's, and nothing here reads them.
//
// A node fills one cache line and holds no pointers.
type Node struct {
	// Address and Bytes say where the run is. Only methods of Space change them.
	Address, Bytes uint64
	// Mark is meant for the epoch of the last use.
	Mark uint64
	// Owner is meant for the number of the set that the run belongs to.
	Owner uint32
	// State is meant to tell whether the run is free.
	State uint8
	// Pool is meant for the pool that the run's segment belongs to.
	Pool uint8

	// member tells that the node is in a set.
	member bool

	// self is the node's own number; previous and next are its neighbours'.
	self, previous, next uint32

	_ [16]byte
}
