// Package replay runs a logged trace of memory requests against a resource. Use it
// to measure how another resource, or other options, would serve the same program.
//
//	log, err := replay.Load(trace.Read(file))
//	player, err := replay.NewPlayer(log, resource, replay.Options{})
//	defer player.Close()
//	first, err := player.Run(ctx)  // the resource has to grow
//	second, err := player.Run(ctx) // and has grown
//
// # Order
//
// Each thread of the log becomes a goroutine, and each stream of the log a stream of
// the resource's device. The requests are made sequentially in the order of the log,
// even if they belong to different threads, as in RMM's replay. With
// Options.Concurrent the goroutines run independently; a goroutine that frees an
// allocation of another one waits only for that allocation.
//
// Streams 0 and 1 are the device's default stream. Stream 2, CUDA's handle for the
// default stream of the calling thread, becomes one stream per thread. (The host
// device numbers its streams from 1, so the first two streams of a log written there
// are treated in the same way.)
//
// # Incomplete logs
//
// A log may be incomplete. Frees of allocations that are not in the log are counted
// and skipped. Allocations still held at the end are counted and freed after the
// measurement. An address that is allocated while it is held was freed by a thread
// that logged the free late: its frees are matched by size, then by age. Requests
// that failed when the log was written are skipped. Requests that fail during the
// replay are counted, and their frees are skipped.
package replay
