// Package buckets keeps freed memory in bins by size, so that the next request of that
// size needs no driver call.
//
// A [Resource] rounds request sizes up to powers of two and can wrap any other
// resource.Resource:
//
//	resource, err := buckets.New(resource.NewDriver(dev), buckets.Options{CacheBytes: 1 << 30})
//	defer resource.Close()
//	mgr, err := memory.NewManager(dev, memory.Options{Resource: resource})
//
// [NewPinned] does the same for pinned host memory, which the driver needs milliseconds
// to allocate. [Slices] pools typed slices of a manager by their exact length, rounded
// up to 256 elements.
//
// # Streams
//
// Memory that was freed on a stream can serve the next request on that stream
// immediately, because the work of a stream runs in order. Another stream gets the
// memory only after the work that used it has completed. An event marks the end of that
// work; the Resource queries the event and never waits for it.
//
// Recording an event is a large part of the cost of a free, and is wasted if every
// stream reuses only its own memory. A Resource therefore records no such event while
// one stream uses it. With several streams, each bin of a stream marks its next 64
// frees, and another 64 whenever another stream has found no memory of its own in that
// bin. Memory that was freed without a mark goes to another stream when its own stream
// is idle, or after the mark that the first unsuccessful search records.
//
// Memory that other streams have used is held until the events of those uses are
// reached.
//
// # Bounds
//
// The cached memory never exceeds Options.CacheBytes. A free beyond that limit evicts
// the oldest memory to the upstream resource, preferring memory that no work uses any
// more.
package buckets
