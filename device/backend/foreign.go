package backend

// ForeignStreams is what it takes to order work behind streams that other
// libraries own. Such a stream may be destroyed at any time, and using its handle
// after that crashes the process, so nothing may touch it later than in the call
// that named it.
type ForeignStreams interface {
	// EventRecordAll marks the work enqueued so far on every stream of the device,
	// streams of other libraries and destroyed ones included. No stream is needed.
	// A driver before CUDA 12.5 returns [ErrNotSupported]; Synchronize is the
	// substitute there. While any stream of the device is being captured it returns
	// [ErrCapturing], and that capture may be lost.
	EventRecordAll(event Event) error
	// StreamIdentity returns a number that tells the stream from every other one of
	// the process, also from a destroyed one that had the same handle. A driver
	// before CUDA 12.0 returns [ErrNotSupported].
	StreamIdentity(stream Stream) (uint64, error)
	// StreamCapturing reports whether work that is enqueued on the stream now would
	// become part of a capture, whoever began it, or would break one. Asking breaks
	// none.
	StreamCapturing(stream Stream) (bool, error)
}
