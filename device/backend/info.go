package backend

import (
	"encoding/hex"
	"fmt"
)

// Kind is the kind of a Device.
type Kind uint8

const (
	// Host is ordinary memory; the processor computes on it.
	Host Kind = iota + 1
	// CUDA is a GPU of NVIDIA's.
	CUDA
)

// String returns the lower-case name of the kind.
func (k Kind) String() string {
	switch k {
	case Host:
		return "host"
	case CUDA:
		return "cuda"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// UUID identifies a physical device across processes and reboots.
type UUID [16]byte

// String formats u as the driver's tools do: GPU-xxxxxxxx-xxxx-….
func (u UUID) String() string {
	h := hex.EncodeToString(u[:])
	return "GPU-" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ComputeCapability is the generation of a GPU's instruction set: 9.0 is Hopper.
type ComputeCapability struct {
	Major, Minor int
}

// String formats c as "9.0".
func (c ComputeCapability) String() string { return fmt.Sprintf("%d.%d", c.Major, c.Minor) }

// Info describes a device. It does not change while the device exists.
type Info struct {
	Kind Kind
	// Ordinal is the device's number among those of its backend, from 0.
	Ordinal int
	// Name is the name of the product, such as "NVIDIA H200".
	Name string
	UUID UUID
	// TotalMemory is the memory of the device in bytes.
	TotalMemory uint64
	// ComputeCapability is zero on the host.
	ComputeCapability ComputeCapability
	// Multiprocessors is the number of a GPU's multiprocessors or of the host's usable
	// processors.
	Multiprocessors int
	// DriverVersion is the newest CUDA version that the driver implements, as
	// 1000·major + 10·minor; zero on the host.
	DriverVersion int
}

// MemoryKind describes where memory is and which processors can reach it.
type MemoryKind uint8

const (
	// MemoryUnknown is memory that the driver does not know: for CUDA, ordinary
	// pageable host memory.
	MemoryUnknown MemoryKind = iota
	// MemoryDevice is memory of the device itself.
	MemoryDevice
	// MemoryPinned is page-locked host memory that the device can reach.
	MemoryPinned
	// MemoryManaged is memory that the driver moves between host and device.
	MemoryManaged
	// MemoryHost is ordinary memory of the host device.
	MemoryHost
)

// String returns the lower-case name of the kind.
func (k MemoryKind) String() string {
	switch k {
	case MemoryUnknown:
		return "unknown"
	case MemoryDevice:
		return "device"
	case MemoryPinned:
		return "pinned"
	case MemoryManaged:
		return "managed"
	case MemoryHost:
		return "host"
	}
	return fmt.Sprintf("MemoryKind(%d)", uint8(k))
}

// HostAccessible reports whether the processor can read memory of this kind.
func (k MemoryKind) HostAccessible() bool {
	return k == MemoryPinned || k == MemoryManaged || k == MemoryHost
}

// PointerInfo describes the memory at an address.
type PointerInfo struct {
	Kind MemoryKind
	// Ordinal is the device that owns the memory, or -1 if no device does.
	Ordinal int
}

// Attribute names a property of a device, by CUDA's CUdevice_attribute number.
type Attribute int32

// Attributes that gpuframe and its users read. Any other number of the driver's is
// passed on unchanged.
const (
	MaxThreadsPerBlock           Attribute = 1
	MaxBlockDimX                 Attribute = 2
	MaxGridDimX                  Attribute = 5
	MaxSharedMemoryPerBlock      Attribute = 8
	WarpSize                     Attribute = 10
	ClockRateKHz                 Attribute = 13
	MultiprocessorCount          Attribute = 16
	CanMapHostMemory             Attribute = 19
	ConcurrentKernels            Attribute = 31
	MemoryClockRateKHz           Attribute = 36
	GlobalMemoryBusWidth         Attribute = 37
	L2CacheBytes                 Attribute = 38
	MaxThreadsPerMultiprocessor  Attribute = 39
	AsyncEngineCount             Attribute = 40
	UnifiedAddressing            Attribute = 41
	ComputeCapabilityMajor       Attribute = 75
	ComputeCapabilityMinor       Attribute = 76
	MaxSharedPerMultiprocessor   Attribute = 81
	ManagedMemory                Attribute = 83
	PageableMemoryAccess         Attribute = 88
	ConcurrentManagedAccess      Attribute = 89
	MaxSharedMemoryPerBlockOptIn Attribute = 97
	VirtualMemoryManagement      Attribute = 102
	SharesByDescriptor           Attribute = 103
	MemoryPoolsSupported         Attribute = 115
)

// FunctionAttribute names a property of a kernel, by CUDA's
// CUfunction_attribute number.
type FunctionAttribute int32

// Attributes of functions.
const (
	FunctionMaxThreadsPerBlock     FunctionAttribute = 0
	FunctionStaticSharedBytes      FunctionAttribute = 1
	FunctionConstantBytes          FunctionAttribute = 2
	FunctionLocalBytes             FunctionAttribute = 3
	FunctionRegisters              FunctionAttribute = 4
	FunctionPTXVersion             FunctionAttribute = 5
	FunctionBinaryVersion          FunctionAttribute = 6
	FunctionMaxDynamicSharedBytes  FunctionAttribute = 8
	FunctionPreferredSharedPercent FunctionAttribute = 9
)

// PoolAttribute names a property of a memory pool, by CUDA's
// CUmemPool_attribute number.
type PoolAttribute int32

// Attributes of pools. The first three are 0 or 1, the others are bytes.
const (
	PoolReuseFollowEventDependencies   PoolAttribute = 1
	PoolReuseAllowOpportunistic        PoolAttribute = 2
	PoolReuseAllowInternalDependencies PoolAttribute = 3
	PoolReleaseThreshold               PoolAttribute = 4
	PoolReservedCurrent                PoolAttribute = 5
	PoolReservedHigh                   PoolAttribute = 6
	PoolUsedCurrent                    PoolAttribute = 7
	PoolUsedHigh                       PoolAttribute = 8
)

// Parameter is one parameter of a kernel as its code declares it.
type Parameter struct {
	// Offset and Bytes locate the parameter in the kernel's parameter space.
	Offset, Bytes int
}

// Dim3 is the extent of a grid (in blocks) or of a block (in threads). A zero
// field counts as one.
type Dim3 struct {
	X, Y, Z uint32
}

// LaunchConfig is the shape of one kernel launch.
type LaunchConfig struct {
	Grid, Block Dim3
	// SharedBytes is the dynamic shared memory of each block.
	SharedBytes uint32
	Stream      Stream
}
