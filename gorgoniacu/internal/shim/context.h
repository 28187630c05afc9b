// The header that the binding needs, and the context in which each call runs.
#ifndef GORGONIACU_CONTEXT_H
#define GORGONIACU_CONTEXT_H

#include "shim.h"

#include <cuda.h>

#if CUDA_VERSION < 11040
#error "gorgoniacu needs cuda.h of CUDA 11.4 or newer; scripts/fetch-cuda-header.sh fetches one of 11.8"
#endif
#if CUDA_VERSION >= 13000
#error "gorgonia.org/cu 0.9.6 does not compile with cuda.h of CUDA 13; scripts/fetch-cuda-header.sh fetches one of 11.8"
#endif

_Static_assert(sizeof(CUdeviceptr) == sizeof(uint64_t) && sizeof(size_t) == 8, "64-bit only");
_Static_assert(sizeof(CUmemGenericAllocationHandle) == sizeof(uint64_t), "CUmemGenericAllocationHandle");

// The context is set on each call, not cached: a goroutine moves between threads, and
// other code in the process sets contexts too. It is restored because the thread may be
// locked by code with another context, such as gorgonia.org/cu's Ctx, or may not belong
// to Go.
//
// A thread without a context keeps device 0's, which the CUDA runtime would give it
// anyway. Go threads that only ever use device 0 therefore pay for one call per
// operation, which sets the same value.
static inline CUresult enter(shim_device device, CUcontext *found) {
    CUresult result = cuCtxGetCurrent(found);
    return result != CUDA_SUCCESS ? result : cuCtxSetCurrent((CUcontext)device.context);
}

// A failure here cannot be handled; the caller needs the operation's result.
static inline void leave(shim_device device, CUcontext found) {
    if ((uintptr_t)found != device.context && (found != NULL || device.handle != 0))
        (void)cuCtxSetCurrent(found);
}

#define IN_CONTEXT(device, call)                    \
    do {                                            \
        CUcontext found = NULL;                     \
        CUresult result = enter((device), &found);  \
        if (result == CUDA_SUCCESS) {               \
            result = (call);                        \
            leave((device), found);                 \
        }                                           \
        return (int32_t)result;                     \
    } while (0)

#endif
