package backend

// Graphs turns work of a stream into something that can be enqueued again and again
// by one call. A device that has none, such as the host, and a driver before CUDA
// 11.4 return [ErrNotSupported] from every method.
//
// Capture is relaxed, as CUDA names it: whichever thread may begin and end it, for
// goroutines move between threads, and while it lasts any thread may do what is not
// work of a stream, such as allocating. Nobody may synchronise the whole device, or
// ask how far a stream that is captured has come: that is refused with
// [ErrCapturing], and the capture may be lost by it.
type Graphs interface {
	// StreamBeginCapture makes work that is enqueued on the stream from now on part
	// of a graph. It does not run. The default stream cannot be captured. What the
	// stream waits for while it is captured has to be of the capture as well.
	StreamBeginCapture(stream Stream) error
	// StreamEndCapture returns what was captured, also if that is nothing. The stream
	// is an ordinary one again, even where the capture was lost, which the error then
	// tells: it wraps [ErrCapturing].
	StreamEndCapture(stream Stream) (Graph, error)
	// GraphDestroy does not touch what was instantiated of the graph.
	GraphDestroy(graph Graph) error
	// GraphInstantiate prepares a graph for launches. Each runs with the same
	// addresses and arguments as were captured.
	GraphInstantiate(graph Graph) (ExecutableGraph, error)
	// GraphLaunch enqueues all of the graph's work. Launches of one graph run one
	// after the other, on whatever streams. Two threads must not launch one at a time.
	GraphLaunch(graph ExecutableGraph, stream Stream) error
	// GraphExecutableDestroy lets launches that are enqueued complete.
	GraphExecutableDestroy(graph ExecutableGraph) error
}
