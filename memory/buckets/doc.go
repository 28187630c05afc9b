// Package buckets keeps freed memory in bins of like size, so that the next
// request of that size costs no call of the driver.
//
// A [Resource] rounds requests up to powers of two and stands on any other
// resource.Resource:
//
//	resource, err := buckets.New(resource.NewDriver(dev), buckets.Options{CacheBytes: 1 << 30})
//	defer resource.Close()
//	mgr, err := memory.NewManager(dev, memory.Options{Resource: resource})
//
// [NewPinned] is the same for pinned host memory, which takes the driver
// milliseconds to make. [Slices] pools typed slices of a manager by their exact
// length, rounded up to 256 elements.
//
// # Streams
//
// Memory that was freed on a stream serves the next request on that stream at
// once, for the work of a stream runs in order. Another stream gets it when the
// work that used it is done, which is asked, never waited for: an event marks the
// end of that work.
//
// Recording an event is a large part of what freeing costs, and where every
// stream lives on its own memory nobody asks for it. So a Resource records none
// while one stream uses it. With several, each bin of a stream marks its next 64
// frees, and again the next 64 whenever another stream has found no memory of its
// own in that bin. Memory that was freed without a mark goes to another stream
// when the stream it was freed on is idle, or after the mark that the first who
// asks leaves behind.
//
// Memory that further streams have used is held until the events of those uses
// are reached; nobody waits for it meanwhile.
//
// # Bounds
//
// What is cached never exceeds Options.CacheBytes. What is freed beyond that
// pushes the oldest out to the resource below, those whose work is done first.
package buckets
