package dlpack

import (
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

// ConsumerStream reads the stream argument of Python's __dlpack__: the number, and
// given, which is false for None. The results are the Stream and NoSync of
// [ExportOptions].
//
// On CUDA, 1 is the legacy default stream, 2 is the per-thread default stream, -1
// requests no synchronization, and a number above 2 is the handle of a stream, which
// is not used after the export. 0 is not allowed, because it is ambiguous between
// None, 1 and 2. A device without streams, such as the host, accepts None and -1
// only.
//
// None returns a nil stream, which [Export] treats as the protocol does: it means the
// legacy default stream. For memory that the processor can access, Export also waits,
// because a consumer that passes no stream may read the memory immediately.
//
// A consumer's work on the per-thread default stream is ordered through the legacy
// stream, so the threads of the export and of the deleter do not matter.
//
// # Errors
//
// The error is an [*Error] that wraps device.ErrInvalidValue.
func ConsumerStream(dev *device.Device, number int64, given bool) (stream *device.Stream, noSync bool, err error) {
	stream, noSync, err = streamOf(dev, number, given)
	return stream, noSync, during("consumer stream", err)
}

// ProducerStream reads the stream of a CUDA array interface: the number, and given,
// which is false for None. The results are the Stream and NoSync of [ImportOptions].
//
// The numbers are those of [ConsumerStream]. 1, the legacy default stream, and 2, the
// per-thread default stream, are different streams. For 2, work on the column waits
// for the default streams of all threads, because the producer's thread is unknown.
// None returns a nil stream, which [Import] treats as the legacy default stream: the
// interface calls such values ready, but a copy from pageable memory may have returned
// before it was done, and libraries state None for their default stream. The handle of a
// stream is not used after the import.
//
// # Errors
//
// The error is an [*Error] that wraps device.ErrInvalidValue.
func ProducerStream(dev *device.Device, number int64, given bool) (stream *device.Stream, noSync bool, err error) {
	stream, noSync, err = streamOf(dev, number, given)
	return stream, noSync, during("producer stream", err)
}

// streamOf makes a stream of a number.
func streamOf(dev *device.Device, number int64, given bool) (stream *device.Stream, noSync bool, err error) {
	const legacy, noSynchronisation = 1, -1
	refuse := func(format string, arguments ...any) (*device.Stream, bool, error) {
		return nil, false, faulty("stream", format, append(arguments, device.ErrInvalidValue)...)
	}
	switch {
	case dev == nil:
		return nil, false, faulty("device", "nil, expected the device of the stream: %w", device.ErrInvalidValue)
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
