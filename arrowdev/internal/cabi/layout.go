package cabi

// Schema is ArrowSchema. Format and Name are addresses of C strings, Metadata of
// Arrow's encoding of pairs, Children of NumChildren addresses of schemas.
type Schema struct {
	Format, Name, Metadata uintptr
	Flags                  int64
	NumChildren            int64
	Children, Dictionary   uintptr
	Release                uintptr
	Private                uintptr
}

// Bits of Schema.Flags.
const (
	FlagDictionaryOrdered = 1 << 0
	FlagNullable          = 1 << 1
	FlagMapKeysSorted     = 1 << 2
)

// Array is ArrowArray. Buffers is the address of NumBuffers addresses of memory,
// Children of NumChildren addresses of arrays.
type Array struct {
	Length, NullCount, Offset     int64
	NumBuffers, NumChildren       int64
	Buffers, Children, Dictionary uintptr
	Release                       uintptr
	Private                       uintptr
}

// DeviceArray is ArrowDeviceArray. If the device has events, SyncEvent is the address
// of an event's handle, or zero.
type DeviceArray struct {
	Array      Array
	DeviceID   int64
	DeviceType int32
	_          int32
	SyncEvent  uintptr
	Reserved   [3]int64
}

// Values of DeviceArray.DeviceType.
const (
	DeviceCPU         = 1
	DeviceCUDA        = 2
	DeviceCUDAHost    = 3
	DeviceROCM        = 10
	DeviceROCMHost    = 11
	DeviceCUDAManaged = 13
)

// NoDeviceID is the DeviceID of a device without one.
const NoDeviceID = -1

// Stream is ArrowArrayStream.
type Stream struct {
	GetSchema, GetNext, GetLastError, Release uintptr
	Private                                   uintptr
}

// DeviceStream is ArrowDeviceArrayStream.
type DeviceStream struct {
	DeviceType                                int32
	_                                         int32
	GetSchema, GetNext, GetLastError, Release uintptr
	Private                                   uintptr
}

// AsyncTask is ArrowAsyncTask.
type AsyncTask struct {
	ExtractData, Private uintptr
}

// AsyncProducer is ArrowAsyncProducer.
type AsyncProducer struct {
	DeviceType         int32
	_                  int32
	Request, Cancel    uintptr
	AdditionalMetadata uintptr
	Private            uintptr
}

// AsyncHandler is ArrowAsyncDeviceStreamHandler. Producer is the address of an
// AsyncProducer.
type AsyncHandler struct {
	OnSchema, OnNextTask, OnError, Release uintptr
	Producer                               uintptr
	Private                                uintptr
}
