// Package soak looks for memory that is corrupted because it was given out twice
// or used again too soon.
//
// [Run] has several goroutines, each with a stream of its own, allocate blocks
// from one manager, write a pattern into each, check it later, pass blocks to one
// another and release them. Nothing waits: blocks are released while work on them
// is still enqueued on their own stream and on others, some of it held back for
// microseconds, for that is when a resource must not give the memory to anyone
// who does not come after that work. Each word of a pattern says who wrote it,
// so that what should not be there names its writer.
//
// On a GPU kernels write and check the patterns, eight blocks a launch; see
// soak.cu. Elsewhere fills and copies to the host do, which every device has; a
// GPU can be told to use them too.
//
// A run that finds nothing says little unless one that must find something does.
// The tests hold resources that are broken in each of the ways looked for.
package soak
