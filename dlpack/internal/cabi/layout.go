package cabi

// Version is DLPackVersion.
type Version struct {
	Major, Minor uint32
}

// The version that exported tensors carry, which is that of the oldest consumers
// that know the versioned struct, and the only major version that imports take.
const (
	MajorVersion = 1
	MinorVersion = 0
)

// Device is DLDevice.
type Device struct {
	Type, ID int32
}

// Values of Device.Type.
const (
	DeviceCPU         = 1
	DeviceCUDA        = 2
	DeviceCUDAHost    = 3
	DeviceROCm        = 10
	DeviceROCmHost    = 11
	DeviceCUDAManaged = 13
)

// DataType is DLDataType: one element is Lanes values of Bits bits each.
type DataType struct {
	Code, Bits uint8
	Lanes      uint16
}

// Values of DataType.Code.
const (
	CodeInt               = 0
	CodeUint              = 1
	CodeFloat             = 2
	CodeOpaque            = 3
	CodeBfloat            = 4
	CodeComplex           = 5
	CodeBool              = 6
	CodeFloat8E3M4        = 7
	CodeFloat8E4M3        = 8
	CodeFloat8E4M3B11FNUZ = 9
	CodeFloat8E4M3FN      = 10
	CodeFloat8E4M3FNUZ    = 11
	CodeFloat8E5M2        = 12
	CodeFloat8E5M2FNUZ    = 13
	CodeFloat8E8M0FNU     = 14
	CodeFloat6E2M3FN      = 15
	CodeFloat6E3M2FN      = 16
	CodeFloat4E2M1FN      = 17
)

// Tensor is DLTensor. Shape and Strides are addresses of int64 arrays of NDim
// elements in host memory.
type Tensor struct {
	Data       uintptr
	Device     Device
	NDim       int32
	DataType   DataType
	Shape      uintptr
	Strides    uintptr
	ByteOffset uint64
}

// ManagedTensor is DLManagedTensor, the struct of DLPack before 1.0.
type ManagedTensor struct {
	Tensor  Tensor
	Context uintptr
	Deleter uintptr
}

// ManagedTensorVersioned is DLManagedTensorVersioned. Everything up to Flags is
// where it is in every version to come.
type ManagedTensorVersioned struct {
	Version Version
	Context uintptr
	Deleter uintptr
	Flags   uint64
	Tensor  Tensor
}

// Bits of ManagedTensorVersioned.Flags.
const (
	FlagReadOnly = 1 << 0
	FlagIsCopied = 1 << 1
)

// MaximumDimensions is the most that an exported tensor has.
const MaximumDimensions = 8

// Record is the memory of one exported tensor. Only one of the two structs is in
// use at a time.
type Record struct {
	Versioned ManagedTensorVersioned
	Legacy    ManagedTensor
	Shape     [MaximumDimensions]int64
	Strides   [MaximumDimensions]int64
}
