// The header that the binding needs, and the context that each call runs in.
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

// The context is set each time, not remembered: a goroutine moves between
// threads, and others in the process set contexts too. It is put back because the
// thread may be one that somebody has locked with a context of their own, as
// gorgonia.org/cu's Ctx does, or may not be Go's at all.
//
// A thread without any context is left with device 0's, which is what the CUDA
// runtime would give it anyway: threads of Go's that only ever serve device 0
// thus pay for one set, to the same value.
static inline CUresult enter(shim_device device, CUcontext *found) {
    CUresult result = cuCtxGetCurrent(found);
    return result != CUDA_SUCCESS ? result : cuCtxSetCurrent((CUcontext)device.context);
}

// Nothing can be done about a failure here, and the operation's own result is
// what the caller asked about.
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
