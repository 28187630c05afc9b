package cabi

import "unsafe"

// Source is what an exported stream gives its consumer. Its methods are called on
// whatever thread the consumer calls from.
type Source interface {
	// GetSchema fills the struct, which is cleared, or nil where the consumer
	// gave none. It returns 0 or an errno code.
	GetSchema(out *Schema) int
	// GetNext is the same for the next array, an ArrowArray or an
	// ArrowDeviceArray as the stream has it. At the end it leaves it cleared.
	GetNext(out unsafe.Pointer) int
	// LastError returns the C string that describes the last error, or nil. It is
	// there until the next call.
	LastError() unsafe.Pointer
	// Ended is called once, when the consumer has released the stream.
	Ended()
}

var sources handles[Source]

// Export fills the struct with a stream of the source's.
func (s *Stream) Export(source Source) {
	watchForks() // without memory for it, the first array that the stream makes fails
	*s = ownStream
	s.Private = uintptr(sources.add(source))
}

// Export fills the struct with a stream of the source's.
func (s *DeviceStream) Export(deviceType int32, source Source) {
	watchForks()
	*s = ownDeviceStream
	s.DeviceType, s.Private = deviceType, uintptr(sources.add(source))
}

// The calls of consumers arrive in the functions below.

func streamSchema(number uint64, out unsafe.Pointer) int {
	if source, ok := sources.find(number); ok {
		return source.GetSchema((*Schema)(out))
	}
	return EINVAL
}

func streamNext(number uint64, out unsafe.Pointer) int {
	if source, ok := sources.find(number); ok {
		return source.GetNext(out)
	}
	return EINVAL
}

func streamError(number uint64) unsafe.Pointer {
	if source, ok := sources.find(number); ok {
		return source.LastError()
	}
	return nil
}

func streamRelease(number uint64) {
	if source, ok := sources.take(number); ok {
		source.Ended()
	}
}
