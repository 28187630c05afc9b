// Package cabi is all of package dlpack's C: the layout of the DLPack structs,
// the memory that exported ones live in, and the calls of deleters in both
// directions.
//
// The structs are read and written from Go in place, through types that hold no
// Go pointers: an address of device memory is a word here and never becomes a
// pointer that the garbage collector would look at. C is crossed only to run
// another library's deleter, and by consumers that run one of ours.
//
// # Exports
//
// [Begin] gives an exported tensor a [Record] in C memory and a [Handle], which
// the struct carries as its manager_ctx. The deleter that consumers call looks
// the handle up and tells the [Owner], once: a handle holds a generation, so one
// that was used up is recognised. Records are used again and never returned to
// the system; there are as many as were ever exported at one time.
//
// A child that a consumer forks has none of Go's other threads. A handler that the first
// export registers sets a flag in it, and deleters do nothing there: the memory of the
// child ends with its process.
//
// Builds without cgo, or for 32-bit platforms, have the types only: [Available]
// is false there.
package cabi
