// Package bestfit keeps the books of an allocator's address space: which runs
// of bytes there are, which run lies next to which, and which free run fits a
// request best. It touches no memory but its own and knows nothing of devices.
//
// A [Space] owns the runs. Each is a [Node]; runs are split and joined, and the
// runs of one segment know their neighbours by address. A [Set] holds the free
// runs of one owner and finds the smallest that suffices, among equal ones the
// one with the lowest address.
//
//	segment := space.Add(address, 64<<20)
//	rest := space.Split(segment, 1<<20)
//	set.Insert(&space, rest)
//	fit := set.Find(&space, 4096)
//
// # How it is made
//
// With 50,000 runs an operation costs as much as the cache lines it must fetch.
// A balanced tree whose links are in the nodes fetches one node for each level.
// Here a set is an array of size classes with a bitmap over it: one class for
// each multiple of 512 bytes up to 1 MiB, sixteen for each doubling above. A
// class with one run refers to its node; others keep their runs in pages of 20,
// as keys that are compared without fetching the nodes. A class with more runs
// than one page holds is a B+ tree of pages. Its leaves are not sorted: they are
// read from one end to the other, which costs no more than a binary search, and
// runs come and go without moving others.
//
// A key of 64 bits orders a class exactly by size and address: it is made of the
// low bits of the size, in which the runs of a class differ, and of the address
// without as many of its own low bits. Runs that do not overlap and are at least
// as long as their class is wide still differ in what is left.
//
// Nodes and pages refer to each other by 32-bit numbers and lie in slabs that
// hold no pointers, so the garbage collector never looks into them, and that
// never move, so a *Node stays valid until its run is joined or removed.
package bestfit
