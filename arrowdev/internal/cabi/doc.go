// Package cabi contains all C of package arrowdev: the layout of the structs of Arrow's
// C data, stream and device interfaces, the memory of exported structs, and the calls
// of function pointers in both directions.
//
// Go reads and writes the structs in place, through types without Go pointers: an
// address of device memory is a word here and never becomes a pointer that the garbage
// collector would follow.
//
// # Exports
//
// All structs of one exported schema or array are in one piece of C memory, a [Tree].
// Each is a node of it. A node is released once, alone after a consumer has moved it
// elsewhere, or with its parent. The release of the last node frees the memory and
// notifies the [Owner]. C does this and calls Go once for a tree. A node's private_data
// is a name with a generation, not an address: a second release, on a copy of a struct
// that was not moved, does nothing.
//
// A child that a consumer forks has no other thread of Go. The first export registers a
// handler that sets a flag in the child: there a release only marks the struct as
// released, and other calls return an error.
//
// Builds without cgo, or for 32-bit platforms, have only the types: [Available] is
// false there.
package cabi
