// Package staging moves bytes between the host and one device. It is the engine below
// package memory's transfers. It handles addresses, streams and pinned memory. Its
// callers check that the memory may be accessed.
//
// A transfer is a list of spans. A [Span] is a range of device memory and the pieces of
// host memory that belong to it. [Engine.Upload] and [Engine.Download] choose a method
// for each part of it:
//
//   - The device copies large pieces of pinned memory directly.
//   - The device fills wide gaps between the pieces of an upload.
//   - The processor reads and writes spans in place if it can access them.
//   - Everything else is staged. The spans are concatenated into one sequence of bytes,
//     and the sequence is cut into lots, each at most as long as a chunk of pinned
//     memory. A lot takes one chunk, one event and one wait, even if many spans share
//     it.
//
// Several goroutines fill or empty chunks while the device copies others. The number of
// chunks is limited. A background goroutine creates them during transfers, or
// [Engine.Warm] creates them in advance. They are kept for later transfers until
// [Engine.Trim] frees them.
package staging
