// Package bestfit manages the runs of bytes in an allocator's address space: it
// records which runs exist and which are adjacent, and finds the best-fitting free
// run for a request. It only stores addresses; it does not access the memory and
// does not depend on a device.
//
// A [Space] owns the runs. Each is a [Node]; runs are split and joined, and the runs
// of one segment are linked in address order. A [Set] holds the free runs of one
// owner and finds the smallest run that is large enough; among equal ones it finds
// the run with the lowest address.
//
//	segment := space.Add(address, 64<<20)
//	rest := space.Split(segment, 1<<20)
//	set.Insert(&space, rest)
//	fit := set.Find(&space, 4096)
//
// # Implementation
//
// With 50,000 runs an operation costs as much as the cache lines that it must fetch.
// A balanced tree with links in the nodes fetches one node per level. Here a set is
// an array of size classes with a bitmap: one class for each multiple of 512 bytes
// up to 1 MiB, and sixteen for each doubling above. A class with one run refers to
// its node; other classes keep their runs in pages of 20, as keys that are compared
// without fetching the nodes. A class with more runs than fit on one page is a B+
// tree of pages. Its leaves are not sorted: a linear scan of a leaf costs no more
// than a binary search, and inserting or removing a run moves no other runs.
//
// A 64-bit key orders a class exactly by size and address: it consists of the low
// bits of the size, in which the runs of a class differ, and of the address without
// the same number of low bits. Runs that do not overlap and are at least as long as
// the width of their class still differ in the remaining bits.
//
// Nodes and pages refer to each other by 32-bit numbers. They are stored in slabs
// without pointers, which the garbage collector does not scan. Slabs never move, so
// a *Node stays valid until its run is joined or removed.
package bestfit
