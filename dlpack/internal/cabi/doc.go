// Package cabi contains all C code of package dlpack: the layout of the DLPack
// structs, the memory of exported structs, and the calls of deleters in both
// directions.
//
// Go reads and writes the structs in place, through types that hold no Go pointers: a
// device address is an integer and never becomes a pointer that the garbage collector
// would follow. cgo is used only to run another library's deleter, and for consumers
// that run one of ours.
//
// # Exports
//
// [Begin] gives an exported tensor a [Record] in C memory and a [Handle], which is
// the manager_ctx of the struct. The deleter that consumers call looks the handle up
// and calls the [Owner], once: a handle holds a generation, so a used handle is
// recognised. Records are reused and never freed; their number is the largest number
// of concurrent exports.
//
// A child that a consumer forks has none of Go's other threads. The first export
// registers a handler that sets a flag in the child, and deleters do nothing there:
// the memory of the child ends with its process.
//
// Builds without cgo, or for 32-bit platforms, have only the types: [Available] is
// false there.
package cabi
