package backend

// Graphs turns work of a stream into a graph that one call can enqueue repeatedly. A
// device without graphs, such as the host, and a driver before CUDA 11.4 return
// [ErrNotSupported] from every method.
//
// Captures use CUDA's relaxed mode. Any thread may begin and end one, because
// goroutines move between threads. During a capture any thread may call operations that
// are not work of a stream, such as allocations. Synchronising the whole device, and
// querying a captured stream, return [ErrCapturing] and may invalidate the capture.
type Graphs interface {
	// StreamBeginCapture makes work that is enqueued on the stream from now on part of
	// a graph; the work does not run. The default stream cannot be captured. During the
	// capture the stream can wait only for work of the same capture.
	StreamBeginCapture(stream Stream) error
	// StreamEndCapture returns the captured work, which may be empty. Afterwards the
	// stream is no longer captured, even if the capture was invalidated; in that case
	// the error wraps [ErrCapturing].
	StreamEndCapture(stream Stream) (Graph, error)
	// GraphDestroy does not affect executable graphs made from the graph.
	GraphDestroy(graph Graph) error
	// GraphInstantiate prepares a graph for launches. Each launch uses the addresses
	// and arguments of the capture.
	GraphInstantiate(graph Graph) (ExecutableGraph, error)
	// GraphLaunch enqueues all work of the graph. Launches of one graph are serialized,
	// on any streams. Two threads must not launch one graph at the same time.
	GraphLaunch(graph ExecutableGraph, stream Stream) error
	// GraphExecutableDestroy lets enqueued launches complete.
	GraphExecutableDestroy(graph ExecutableGraph) error
}
