package cuda

import (
	"cmp"
	"slices"

	"github.com/gpuframe/gpuframe/device/backend"
)

// meaning selects the sentinel of package backend for a code. It is a number so that
// the table below needs no initialisation at program start.
type meaning uint8

const (
	other meaning = iota
	invalidValue
	outOfMemory
	notAvailable
	noDevice
	notSupported
	invalidCode
	notFound
	deviceLost
	capturing
)

// sentinel returns the error of package backend, or nil for other.
func (m meaning) sentinel() error {
	switch m {
	case invalidValue:
		return backend.ErrInvalidValue
	case outOfMemory:
		return backend.ErrOutOfMemory
	case notAvailable:
		return backend.ErrNotAvailable
	case noDevice:
		return backend.ErrNoDevice
	case notSupported:
		return backend.ErrNotSupported
	case invalidCode:
		return backend.ErrInvalidCode
	case notFound:
		return backend.ErrNotFound
	case deviceLost:
		return backend.ErrDeviceLost
	case capturing:
		return backend.ErrCapturing
	}
	return nil
}

type codeEntry struct {
	code        Code
	name        string
	meaning     meaning
	description string
}

// lookUp returns the entry of a code, or an empty one.
func lookUp(code Code) codeEntry {
	at, known := slices.BinarySearchFunc(codes[:], code, func(entry codeEntry, code Code) int {
		return cmp.Compare(entry.code, code)
	})
	if !known {
		return codeEntry{}
	}
	return codes[at]
}

// codes holds every CUresult up to CUDA 13.0 in order. The driver could describe them
// too (cuGetErrorString), but an error must be readable without a driver.
//
// deviceLost is for the codes after which NVIDIA documents that the process must be
// restarted, for faults of the hardware, for a destroyed context and for a driver that
// has shut down. CUDA_ERROR_UNKNOWN is not among them: calls that merely failed return
// it too, so it must not make a caller give up a working device. If the device is lost,
// the next call reports it. Codes 711 to 713 and 720 are not among them either: they
// lie between fatal codes but report ordinary misuse.
var codes = [...]codeEntry{
	{0, "CUDA_SUCCESS", other, "no error"},
	{1, "CUDA_ERROR_INVALID_VALUE", invalidValue, "an argument is not in the range that the call takes"},
	{2, "CUDA_ERROR_OUT_OF_MEMORY", outOfMemory, "the driver has not enough memory for the request"},
	{3, "CUDA_ERROR_NOT_INITIALIZED", notAvailable, "the driver has not been initialised"},
	{4, "CUDA_ERROR_DEINITIALIZED", deviceLost, "the driver is shutting down with the process"},
	{5, "CUDA_ERROR_PROFILER_DISABLED", other, "the profiler is not initialised, as under an external profiler"},
	{6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED", other, "the profiler was not initialised (deprecated)"},
	{7, "CUDA_ERROR_PROFILER_ALREADY_STARTED", other, "the profiler was already started (deprecated)"},
	{8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED", other, "the profiler was already stopped (deprecated)"},
	{34, "CUDA_ERROR_STUB_LIBRARY", notAvailable, "the library is a stub for linking, not the driver: remove its folder from the library path"},
	{36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", notSupported, "the installed driver is too old for this call"},
	{46, "CUDA_ERROR_DEVICE_UNAVAILABLE", notAvailable, "another process holds the device, or it is set to accept none"},
	{100, "CUDA_ERROR_NO_DEVICE", notAvailable, "the driver sees no CUDA device: check nvidia-smi, CUDA_VISIBLE_DEVICES and the container's access to /dev/nvidia*"},
	{101, "CUDA_ERROR_INVALID_DEVICE", noDevice, "there is no device of that number, or the operation does not apply to it"},
	{102, "CUDA_ERROR_DEVICE_NOT_LICENSED", notAvailable, "the device has no valid GRID licence"},
	{200, "CUDA_ERROR_INVALID_IMAGE", invalidCode, "the module's image is neither PTX nor a valid binary"},
	{201, "CUDA_ERROR_INVALID_CONTEXT", invalidValue, "the context is invalid, or none is current"},
	{202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", other, "the context is already current (deprecated)"},
	{205, "CUDA_ERROR_MAP_FAILED", other, "memory or a resource could not be mapped"},
	{206, "CUDA_ERROR_UNMAP_FAILED", other, "memory or a resource could not be unmapped"},
	{207, "CUDA_ERROR_ARRAY_IS_MAPPED", other, "the array is mapped and cannot be destroyed"},
	{208, "CUDA_ERROR_ALREADY_MAPPED", invalidValue, "the resource is already mapped"},
	{209, "CUDA_ERROR_NO_BINARY_FOR_GPU", invalidCode, "the module holds no code for this GPU's compute capability"},
	{210, "CUDA_ERROR_ALREADY_ACQUIRED", other, "the resource has already been acquired"},
	{211, "CUDA_ERROR_NOT_MAPPED", invalidValue, "the resource is not mapped"},
	{212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", other, "the resource is not mapped as an array"},
	{213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER", other, "the resource is not mapped as a pointer"},
	{214, "CUDA_ERROR_ECC_UNCORRECTABLE", deviceLost, "the memory's error correction met an error that it cannot correct"},
	{215, "CUDA_ERROR_UNSUPPORTED_LIMIT", other, "the device does not have that limit"},
	{216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE", other, "the context belongs to one thread and is in use there"},
	{217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", notSupported, "the two devices cannot reach each other's memory"},
	{218, "CUDA_ERROR_INVALID_PTX", invalidCode, "the PTX could not be compiled"},
	{219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", other, "the graphics context cannot be used with CUDA"},
	{220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", deviceLost, "NVLink met an error that it cannot correct"},
	{221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", notSupported, "libnvidia-ptxjitcompiler, which compiles PTX, is not installed with the driver"},
	{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", invalidCode, "the PTX is of a version newer than the driver: lower its .version or update the driver"},
	{223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", notSupported, "compiling PTX is switched off (CUDA_DISABLE_PTX_JIT)"},
	{224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", other, "the device cannot keep work to a part of its multiprocessors"},
	{225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC", invalidCode, "the code waits for the device from the device, which this GPU cannot do"},
	{226, "CUDA_ERROR_CONTAINED", deviceLost, "a peer's memory was read or written wrongly, or failed; the fault was kept from spreading"},
	{300, "CUDA_ERROR_INVALID_SOURCE", invalidCode, "the device code is not valid"},
	{301, "CUDA_ERROR_FILE_NOT_FOUND", other, "the file was not found"},
	{302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", invalidCode, "a symbol of a shared object could not be resolved"},
	{303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", invalidCode, "a shared object could not be initialised"},
	{304, "CUDA_ERROR_OPERATING_SYSTEM", other, "a call of the operating system failed"},
	{400, "CUDA_ERROR_INVALID_HANDLE", invalidValue, "the stream, event, module or other handle is not one of this device"},
	{401, "CUDA_ERROR_ILLEGAL_STATE", other, "the resource is not in a state that allows the operation"},
	{402, "CUDA_ERROR_LOSSY_QUERY", other, "the answer would leave out part of what is there"},
	{500, "CUDA_ERROR_NOT_FOUND", notFound, "there is nothing of that name or at that address"},
	{600, "CUDA_ERROR_NOT_READY", other, "the work is not done yet"},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS", deviceLost, "a kernel read or wrote an address that is not its memory; the process must be started again"},
	{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", invalidValue, "the block has more threads than the kernel's registers allow, or too many arguments were given"},
	{702, "CUDA_ERROR_LAUNCH_TIMEOUT", deviceLost, "a kernel ran longer than the system allows; the process must be started again"},
	{703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", other, "the kernel's use of textures is not allowed"},
	{704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", other, "peer access is already enabled"},
	{705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", invalidValue, "peer access is not enabled"},
	{708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", other, "the primary context is already active"},
	{709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", deviceLost, "the context has been destroyed"},
	{710, "CUDA_ERROR_ASSERT", deviceLost, "an assertion in a kernel failed; the process must be started again"},
	{711, "CUDA_ERROR_TOO_MANY_PEERS", other, "the device has no room for another peer"},
	{712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", invalidValue, "the host memory is already registered"},
	{713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", invalidValue, "the host memory is not registered"},
	{714, "CUDA_ERROR_HARDWARE_STACK_ERROR", deviceLost, "a kernel's call stack overflowed or was damaged; the process must be started again"},
	{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", deviceLost, "a kernel met an instruction that is none; the process must be started again"},
	{716, "CUDA_ERROR_MISALIGNED_ADDRESS", deviceLost, "a kernel used an address that is not aligned to its type; the process must be started again"},
	{717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", deviceLost, "a kernel used an address of the wrong memory space; the process must be started again"},
	{718, "CUDA_ERROR_INVALID_PC", deviceLost, "a kernel jumped to where no code is; the process must be started again"},
	{719, "CUDA_ERROR_LAUNCH_FAILED", deviceLost, "a kernel failed while it ran; the process must be started again"},
	{720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", invalidValue, "a cooperative launch has more blocks than the device holds at a time"},
	{721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", deviceLost, "a kernel ended without giving its tensor memory back; the process must be started again"},
	{800, "CUDA_ERROR_NOT_PERMITTED", other, "the operation is not permitted"},
	{801, "CUDA_ERROR_NOT_SUPPORTED", notSupported, "the operation is not supported by this device or system"},
	{802, "CUDA_ERROR_SYSTEM_NOT_READY", notAvailable, "the system is not ready for CUDA: check that its services run (nvidia-fabricmanager on NVSwitch systems)"},
	{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", notAvailable, "the kernel module and libcuda are of different versions: restart the machine after an update, or check what the container mounts"},
	{804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", notAvailable, "the forward compatibility package does not support this GPU"},
	{805, "CUDA_ERROR_MPS_CONNECTION_FAILED", notAvailable, "the MPS client could not reach the MPS control daemon or server"},
	{806, "CUDA_ERROR_MPS_RPC_FAILURE", notAvailable, "a call between the MPS server and its client failed"},
	{807, "CUDA_ERROR_MPS_SERVER_NOT_READY", notAvailable, "the MPS server does not accept clients yet, as after a fault"},
	{808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", notAvailable, "the MPS server has no room for another client"},
	{809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", notAvailable, "the device has no room for another MPS connection"},
	{810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", deviceLost, "the MPS server ended this client; the process must be started again"},
	{811, "CUDA_ERROR_CDP_NOT_SUPPORTED", invalidCode, "the code launches kernels from the device, which is not supported here"},
	{812, "CUDA_ERROR_CDP_VERSION_MISMATCH", invalidCode, "the code mixes two versions of device-side launches"},
	{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", capturing, "the operation is not allowed while a stream is being captured"},
	{901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", capturing, "an earlier error has invalidated the stream's capture"},
	{902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", capturing, "the operation would join two captures"},
	{903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", capturing, "the capture did not begin in this stream"},
	{904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", capturing, "the capture has a branch that did not join the stream it began in"},
	{905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", capturing, "the capture would depend on work outside it"},
	{906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", capturing, "the capture would depend on the legacy default stream"},
	{907, "CUDA_ERROR_CAPTURED_EVENT", capturing, "the event was last recorded in a capture"},
	{908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", capturing, "the capture was begun by another thread"},
	{909, "CUDA_ERROR_TIMEOUT", other, "the wait ran out of time"},
	{910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", other, "the graph differs too much for its executable form to be updated"},
	{911, "CUDA_ERROR_EXTERNAL_DEVICE", deviceLost, "a device other than a GPU failed in a shared operation; the process must be started again"},
	{912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", invalidValue, "the size of the launch's clusters is not valid"},
	{913, "CUDA_ERROR_FUNCTION_NOT_LOADED", other, "the function has not been loaded yet"},
	{914, "CUDA_ERROR_INVALID_RESOURCE_TYPE", invalidValue, "a resource is of a type that the operation does not take"},
	{915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", invalidValue, "the resources are too few or do not fit together"},
	{916, "CUDA_ERROR_KEY_ROTATION", other, "the exchange of an encryption key failed or is under way"},
	{999, "CUDA_ERROR_UNKNOWN", other, "an internal error of the driver: see its messages in the kernel log (dmesg, Xid)"},
}
