// Package soak looks for corruption of memory that a resource gave to two callers or
// reused too soon.
//
// [Run] starts several goroutines with one stream each. They allocate blocks from one
// manager, write a pattern into each, check it later, pass blocks to each other and
// release them, without waiting. Blocks are released while work on them is still
// enqueued, on the goroutine's stream and on others. Some of that work is delayed for
// microseconds: until it has completed, a resource must not give the memory to work
// that is not ordered after it. Each word of a pattern identifies its writer, so a
// mismatch names the writer of the wrong value.
//
// On a GPU, kernels write and check the patterns, eight blocks per launch; see soak.cu.
// Other devices use fills and copies to the host, which every device supports. [Copies]
// selects them on a GPU too.
//
// A run without findings proves something only if runs of broken resources fail. The
// tests run resources that are broken in each of the ways that the package detects.
package soak
