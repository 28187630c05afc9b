package cabi

// Version is DLPackVersion.
type Version struct {
	Major, Minor uint32
}

// Exported tensors carry this version, the oldest with the versioned struct. Imports
// accept only its major version.
const (
	MajorVersion = 1
	MinorVersion = 0
)

// Device is DLDevice.
type Device struct {
	Type, ID int32
}

// These are values of Device.Type.
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

// These are values of DataType.Code.
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

// ManagedTensorVersioned is DLManagedTensorVersioned. The position of every field up
// to Flags is fixed for all versions.
type ManagedTensorVersioned struct {
	Version Version
	Context uintptr
	Deleter uintptr
	Flags   uint64
	Tensor  Tensor
}

// These are bits of ManagedTensorVersioned.Flags.
const (
	FlagReadOnly = 1 << 0
	FlagIsCopied = 1 << 1
)

// MaximumDimensions is the largest number of dimensions of an exported tensor.
const MaximumDimensions = 8

// Record is the memory of one exported tensor. Only one of the two structs is in
// use at a time.
type Record struct {
	Versioned ManagedTensorVersioned
	Legacy    ManagedTensor
	Shape     [MaximumDimensions]int64
	Strides   [MaximumDimensions]int64
}
