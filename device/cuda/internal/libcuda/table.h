// The driver's functions, and the context in which each call of them runs.
#ifndef GPUFRAME_LIBCUDA_TABLE_H
#define GPUFRAME_LIBCUDA_TABLE_H

#include "shims.h"
#include "symbols.h"
#include "types.h"

// libcuda_table has one member for each symbol, named like the symbol. Members of
// optional symbols are NULL if the driver is older.
#define LIBCUDA_MEMBER(name, parameters) CUresult(*name) parameters;
#define LIBCUDA_OPTIONAL_MEMBER(name, since, parameters) LIBCUDA_MEMBER(name, parameters)
struct libcuda_table {
    LIBCUDA_SYMBOLS(LIBCUDA_MEMBER, LIBCUDA_OPTIONAL_MEMBER)
};

// libcuda_load writes it once, before any shim can be reached; it is only read
// afterwards.
extern struct libcuda_table libcuda;

// LIBCUDA_NEEDS ends a shim if the driver lacks its optional symbol.
#define LIBCUDA_NEEDS(name)                                 \
    do {                                                    \
        if (libcuda.name == NULL)                           \
            return CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER;   \
    } while (0)

// A shim makes its device's context current, calls, and restores the thread's current
// context.
//
// The context is set on each call, not cached: PyTorch, CuPy or another binding in the
// process may change it between any two calls, and a goroutine moves between threads.
//
// It is restored because the thread need not belong to Go. A Python program that calls
// gpuframe, or a consumer's thread that runs the deleter of an exported tensor, has a
// current context. The CUDA runtime derives the current device from it, so without the
// restore that thread's next work would go to the wrong GPU.
//
// One case needs no second call: a thread without a context keeps device 0's, which the
// runtime would give it anyway. Go threads that only ever use device 0 therefore pay
// for one call per operation, which sets the same value.
static inline CUresult libcuda_enter(libcuda_device device, CUcontext *found) {
    CUresult result = libcuda.cuCtxGetCurrent(found);
    if (result != CUDA_SUCCESS)
        return result;
    return libcuda.cuCtxSetCurrent((CUcontext)device.context);
}

static inline void libcuda_leave(libcuda_device device, CUcontext found) {
    if ((uintptr_t)found == device.context || (found == NULL && device.handle == 0))
        return;
    // A failure here cannot be handled; the caller needs the operation's result.
    (void)libcuda.cuCtxSetCurrent(found);
}

#define LIBCUDA_IN_CONTEXT(device, call)                        \
    do {                                                        \
        CUcontext found = NULL;                                 \
        CUresult result = libcuda_enter((device), &found);      \
        if (result == CUDA_SUCCESS) {                           \
            result = (call);                                    \
            libcuda_leave((device), found);                     \
        }                                                       \
        return result;                                          \
    } while (0)

// LIBCUDA_RELAXED is LIBCUDA_IN_CONTEXT for calls that the driver forbids a thread
// while another thread captures a stream in the global mode, PyTorch's default: the
// call would fail and invalidate that capture. None of these calls depends on the
// capture, so the thread switches to the relaxed mode for the duration of the call.
// PyTorch's allocator does the same.
static inline int libcuda_relax(int mode) {
    if (libcuda.cuThreadExchangeStreamCaptureMode != NULL)
        (void)libcuda.cuThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

#define LIBCUDA_RELAXED(device, call)                           \
    do {                                                        \
        CUcontext found = NULL;                                 \
        CUresult result = libcuda_enter((device), &found);      \
        if (result == CUDA_SUCCESS) {                           \
            int mode = libcuda_relax(CU_STREAM_CAPTURE_MODE_RELAXED); \
            result = (call);                                    \
            (void)libcuda_relax(mode);                          \
            libcuda_leave((device), found);                     \
        }                                                       \
        return result;                                          \
    } while (0)

#endif
