// Package replay runs a logged trace of memory requests against a resource, to
// find out what another resource, or another setting of it, would have made of
// the same program.
//
//	log, err := replay.Load(trace.Read(file))
//	player, err := replay.NewPlayer(log, resource, replay.Options{})
//	defer player.Close()
//	first, err := player.Run(ctx)  // the resource has to grow
//	second, err := player.Run(ctx) // and has grown
//
// # Order
//
// Each thread of the log becomes a goroutine, each stream a stream of the
// resource's device. The requests are made one after the other in the order of
// the log, whichever thread is to make them, as RMM's replay does. With
// Options.Concurrent every goroutine goes on by itself, and one that frees what
// another allocates waits for that alone.
//
// Streams 0 and 1 are the device's default stream. Stream 2, CUDA's name for
// the default stream of the calling thread, is one stream for each thread. (The
// host device numbers its streams from 1, so the first two of a log written
// there are taken for these.)
//
// # What a log may hold
//
// A log need not be whole. Frees of what the log does not show allocated are
// counted and left out; what is still held at its end is counted and freed after
// the time was taken. An address that is allocated while it is held was freed by
// a thread that was slow to log it: its frees are matched by size, then by age.
// Requests that failed when the log was written are left out; those that fail
// now are counted, and so are their frees left out.
package replay
