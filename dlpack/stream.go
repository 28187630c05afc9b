package dlpack

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

// ConsumerStream reads the stream argument of Python's __dlpack__: the number, and
// whether one was given, for None is no number. What it returns goes into
// [ExportOptions], as Stream and NoSync.
//
// On CUDA, 1 is the legacy default stream, 2 is the per-thread default stream, -1
// asks for no synchronisation, and a number above 2 is the handle of a stream,
// which stays the consumer's: it is not touched after the export. 0 is
// not allowed, for it could mean any of None, 1 and 2. A device without streams,
// such as the host, takes None and -1 only.
//
// None is a nil stream, by which [Export] means what the protocol does: the legacy
// default stream, and for memory that the processor can reach, too, a wait, for
// who passes no stream may read it there at once.
//
// What a consumer does on the per-thread default stream is ordered by way of the
// legacy one, so that it does not matter on which thread the export happens and on
// which the deleter runs.
//
// The error is an [*Error] that wraps device.ErrInvalidValue.
func ConsumerStream(dev *device.Device, number int64, given bool) (stream *device.Stream, noSync bool, err error) {
	stream, noSync, err = streamOf(dev, number, given)
	return stream, noSync, during("consumer stream", err)
}

// ProducerStream reads the stream of a CUDA array interface: the number, and whether
// there was one, for None is no number. What it returns goes into [ImportOptions], as
// Stream and NoSync.
//
// The numbers are those of [ConsumerStream]. 1, the legacy default stream, and 2, the
// per-thread default stream, are different streams: work on the column waits for the
// work on the default streams of all threads if it is 2, for nobody knows which thread
// the producer was on. None says that the values are there already. The handle of a
// stream is not used after the import.
//
// The error is an [*Error] that wraps device.ErrInvalidValue.
func ProducerStream(dev *device.Device, number int64, given bool) (stream *device.Stream, noSync bool, err error) {
	stream, noSync, err = streamOf(dev, number, given)
	return stream, noSync || !given && err == nil, during("producer stream", err)
}

// streamOf reads a number of a stream.
func streamOf(dev *device.Device, number int64, given bool) (stream *device.Stream, noSync bool, err error) {
	const legacy, noSynchronisation = 1, -1
	refuse := func(format string, arguments ...any) (*device.Stream, bool, error) {
		return nil, false, faulty("stream", format, append(arguments, device.ErrInvalidValue)...)
	}
	switch {
	case dev == nil:
		return nil, false, faulty("device", "it is nil: %w", device.ErrInvalidValue)
	case given && number == noSynchronisation:
		return nil, true, nil
	case !given:
		return nil, false, nil
	case dev.Kind() == device.Host:
		return refuse("%d: %s has no streams: pass None: %w", number, dev)
	case number == legacy:
		return dev.DefaultStream(), false, nil
	case number == 0:
		return refuse("0 is not allowed, for it is ambiguous: pass 1 for the legacy default stream or 2 for the per-thread default stream: %w")
	case number < 0:
		return refuse("%d: the only negative number with a meaning is -1, for no synchronisation: %w", number)
	case int64(uintptr(number)) != number:
		return refuse("%#x is no handle on this platform: %w", number)
	}
	return dev.WrapStream(backend.Stream(number)), false, nil
}
