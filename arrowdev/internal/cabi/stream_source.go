package cabi

import "unsafe"

// Source is the Go side of an exported stream. The consumer may call its methods on any
// thread.
type Source interface {
	// GetSchema fills the cleared struct. out is nil if the consumer passed none. It
	// returns 0 or an errno code.
	GetSchema(out *Schema) int
	// GetNext does the same for the next array, an ArrowArray or an ArrowDeviceArray
	// according to the kind of the stream. At the end it leaves the struct cleared.
	GetNext(out unsafe.Pointer) int
	// LastError returns the C string that describes the last error, or nil. It is valid
	// until the next call.
	LastError() unsafe.Pointer
	// Ended is called once, when the consumer has released the stream.
	Ended()
}

var sources handles[Source]

// Export fills the struct with a stream over the source.
func (s *Stream) Export(source Source) {
	watchForks() // if it has no memory, the first array that the stream makes fails
	*s = ownStream
	s.Private = uintptr(sources.add(source))
}

// Export fills the struct with a stream over the source.
func (s *DeviceStream) Export(deviceType int32, source Source) {
	watchForks()
	*s = ownDeviceStream
	s.DeviceType, s.Private = deviceType, uintptr(sources.add(source))
}

// C calls the functions below for the calls of consumers.

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
