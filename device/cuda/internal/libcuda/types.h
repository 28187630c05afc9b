// The part of the CUDA driver's binary interface that gpuframe uses, declared here so
// that a build needs no CUDA header. It is for 64-bit Linux only.
//
// Checked against bindings generated from cuda.h of CUDA 11.4 to 13.0. The driver keeps
// old binary interfaces, so a correct declaration stays correct.
#ifndef GPUFRAME_LIBCUDA_TYPES_H
#define GPUFRAME_LIBCUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr; // 64 bits since the _v2 functions of CUDA 3.2
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUgraph_st *CUgraph;         // CUDA 10.0
typedef struct CUgraphExec_st *CUgraphExec; // CUDA 10.0
typedef struct CUmemPoolHandle_st *CUmemoryPool; // CUDA 11.2

// CUDA 9.2.
typedef struct {
    char bytes[16];
} CUuuid;

// CUDA 10.2, with virtual memory management; used for pools since 11.2.
typedef struct {
    int type;
    int id;
} CUmemLocation;

// CUDA 11.2. maxSize was reserved, and had to be zero, before CUDA 12.2; usage, which
// gpuframe leaves zero, before 12.6.
typedef struct {
    int allocType;
    int handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps;

typedef uint64_t CUmemGenericAllocationHandle; // CUDA 10.2

// CUDA 10.2. All of allocFlags, which gpuframe leaves zero, was reserved at first.
typedef struct {
    int type;
    int requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType;
        unsigned char gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp;

// CUDA 10.2; used with pools since 11.2.
typedef struct {
    CUmemLocation location;
    int flags;
} CUmemAccessDesc;

_Static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8, "64-bit only");
_Static_assert(sizeof(CUuuid) == 16, "CUuuid");
_Static_assert(sizeof(CUmemLocation) == 8, "CUmemLocation");
_Static_assert(sizeof(CUmemAccessDesc) == 12, "CUmemAccessDesc");
_Static_assert(offsetof(CUmemAccessDesc, flags) == 8, "CUmemAccessDesc.flags");
_Static_assert(sizeof(CUmemGenericAllocationHandle) == 8, "CUmemGenericAllocationHandle");
_Static_assert(sizeof(CUmemAllocationProp) == 32, "CUmemAllocationProp");
_Static_assert(offsetof(CUmemAllocationProp, location) == 8, "CUmemAllocationProp.location");
_Static_assert(offsetof(CUmemAllocationProp, win32HandleMetaData) == 16, "CUmemAllocationProp.win32HandleMetaData");
_Static_assert(offsetof(CUmemAllocationProp, allocFlags) == 24, "CUmemAllocationProp.allocFlags");
_Static_assert(sizeof(CUmemPoolProps) == 88, "CUmemPoolProps");
_Static_assert(offsetof(CUmemPoolProps, handleTypes) == 4, "CUmemPoolProps.handleTypes");
_Static_assert(offsetof(CUmemPoolProps, location) == 8, "CUmemPoolProps.location");
_Static_assert(offsetof(CUmemPoolProps, win32SecurityAttributes) == 16, "CUmemPoolProps.win32SecurityAttributes");
_Static_assert(offsetof(CUmemPoolProps, maxSize) == 24, "CUmemPoolProps.maxSize");
_Static_assert(offsetof(CUmemPoolProps, usage) == 32, "CUmemPoolProps.usage");
_Static_assert(offsetof(CUmemPoolProps, reserved) == 34, "CUmemPoolProps.reserved");

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER = 36,

    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_BLOCKING_SYNC = 1,
    CU_EVENT_DISABLE_TIMING = 2,

    CU_MEMHOSTALLOC_PORTABLE = 1,
    CU_MEMHOSTALLOC_DEVICEMAP = 2,
    CU_MEMHOSTREGISTER_PORTABLE = 1,
    CU_MEMHOSTREGISTER_DEVICEMAP = 2,

    CU_DEVICE_CPU = -1,
    CU_MEM_ATTACH_GLOBAL = 1,

    CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,

    CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    CU_MEM_LOCATION_TYPE_DEVICE = 1,
    CU_MEM_ACCESS_FLAGS_PROT_READ = 1,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
    CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,

    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,

    CU_JIT_INFO_LOG_BUFFER = 3,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
    CU_JIT_GENERATE_LINE_INFO = 13,
    CU_JIT_INPUT_PTX = 1,

    CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

#endif
