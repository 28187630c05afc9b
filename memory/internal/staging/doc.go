// Package staging moves bytes between the host and one device: the engine below
// package memory's transfers. It knows addresses, streams and pinned memory; who
// owns the memory at an address, and whether it may be written, is for its
// callers to know and to check.
//
// A transfer is a list of spans. A [Span] is a run of memory on the device and
// the pieces of host memory that belong to it. [Engine.Upload] and
// [Engine.Download] plan how each stretch of it travels:
//
//   - Large pieces of pinned memory are copied by the device itself.
//   - Wide gaps between the pieces of an upload are filled by the device.
//   - Spans that the processor can reach are read and written in place.
//   - Everything else is staged. It is laid out as one sequence of bytes, as if
//     the spans lay side by side, and the sequence is cut into lots, each as long
//     as a chunk of pinned memory at most. However many spans share a lot, it
//     takes one chunk, one event and one wait.
//
// Several goroutines fill or empty chunks while the device copies others. The
// number of chunks is bounded. They are made one after the other while the first of
// them travel, or ahead by [Engine.Warm], kept for later transfers and given back by
// [Engine.Trim].
package staging
