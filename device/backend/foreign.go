package backend

// ForeignStreams orders work after work on streams that other libraries own. Such a
// stream may be destroyed at any time, and using its handle afterwards crashes the
// process. A backend therefore uses the handle only during the call that received it.
type ForeignStreams interface {
	// EventRecordAll marks the work enqueued so far on every stream of the device,
	// including streams of other libraries and destroyed ones. It needs no stream. A
	// driver before CUDA 12.5 returns [ErrNotSupported]; use Synchronize there. While
	// any stream of the device is being captured it returns [ErrCapturing], and may
	// invalidate that capture.
	EventRecordAll(event Event) error
	// StreamIdentity returns a number that differs from that of every other stream of
	// the process, including a destroyed one with the same handle. A driver before CUDA
	// 12.0 returns [ErrNotSupported].
	StreamIdentity(stream Stream) (uint64, error)
	// StreamCapturing reports whether work enqueued on the stream now would become part
	// of a capture, of this or another library, or would break one. The query breaks no
	// capture.
	StreamCapturing(stream Stream) (bool, error)
}
