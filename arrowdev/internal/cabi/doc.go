// Package cabi is all of package arrowdev's C: the layout of the structs of
// Arrow's C data, stream and device interfaces, the memory that exported ones live
// in, and the calls of function pointers in both directions.
//
// The structs are read and written from Go in place, through types that hold no
// Go pointers: an address of device memory is a word here and never becomes a
// pointer that the garbage collector would look at.
//
// # Exports
//
// All structs of one exported schema or array lie in one piece of C memory, a
// [Tree]. Each is a node of it and is released once, by itself after a consumer
// has moved it elsewhere, or with its parent; the memory goes, and the [Owner] is
// told, with the last. That happens in C; Go is called once for a tree. A node's
// private_data is a name with a generation in it, and no address: a release that
// is called twice, on a copy of a struct that was never moved from, does nothing.
//
// A child that a consumer forks has none of Go's other threads. A handler that the first
// export registers sets a flag in it: releases there mark the struct as released and do
// no more, other calls return an error.
//
// Builds without cgo, or for 32-bit platforms, have the types only: [Available]
// is false there.
package cabi
