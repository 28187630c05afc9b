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
	DeviceCUDAManaged = 13
)

// DataType is DLDataType: one element is Lanes values of Bits bits each.
type DataType struct {
	Code, Bits uint8
	Lanes      uint16
}

// Values of DataType.Code.
const (
	CodeInt     = 0
	CodeUint    = 1
	CodeFloat   = 2
	CodeBfloat  = 4
	CodeComplex = 5
	CodeBool    = 6
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

// Record is the memory of one exported tensor of one dimension. Only one of the
// two structs is in use at a time.
type Record struct {
	Versioned ManagedTensorVersioned
	Legacy    ManagedTensor
	Shape     [1]int64
	Strides   [1]int64
}
