// The driver's functions, and the context that each call of them runs in.
#ifndef GPUFRAME_LIBCUDA_TABLE_H
#define GPUFRAME_LIBCUDA_TABLE_H

#include "shims.h"
#include "symbols.h"
#include "types.h"

// libcuda_table has one member for each symbol, named as the symbol. Members
// of optional symbols are NULL where the driver is older.
#define LIBCUDA_MEMBER(name, parameters) CUresult(*name) parameters;
#define LIBCUDA_OPTIONAL_MEMBER(name, since, parameters) LIBCUDA_MEMBER(name, parameters)
struct libcuda_table {
    LIBCUDA_SYMBOLS(LIBCUDA_MEMBER, LIBCUDA_OPTIONAL_MEMBER)
};

// Written once by libcuda_load, before any shim can be reached; read only
// afterwards.
extern struct libcuda_table libcuda;

// LIBCUDA_NEEDS ends a shim whose optional symbol the driver lacks.
#define LIBCUDA_NEEDS(name)                                 \
    do {                                                    \
        if (libcuda.name == NULL)                           \
            return CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER;   \
    } while (0)

// A shim makes its device's context current, calls, and leaves the thread's
// current context as it was.
//
// Current is set each time, not remembered: PyTorch, CuPy or another binding in
// the process may change it between any two calls, and a goroutine moves
// between threads.
//
// It is put back because the thread need not be Go's. A Python program that
// calls gpuframe, or a consumer's thread that runs the deleter of an exported
// tensor, has a current context of its own; the CUDA runtime takes it for the
// current device, and would send that thread's next work to the wrong GPU.
//
// One case needs no second call: a thread without any context is left with
// device 0's, which is what the runtime would give it anyway. Threads of Go's
// that only ever serve device 0 thus pay for one set, to the same value.
static inline CUresult libcuda_enter(libcuda_device device, CUcontext *found) {
    CUresult result = libcuda.cuCtxGetCurrent(found);
    if (result != CUDA_SUCCESS)
        return result;
    return libcuda.cuCtxSetCurrent((CUcontext)device.context);
}

static inline void libcuda_leave(libcuda_device device, CUcontext found) {
    if ((uintptr_t)found == device.context || (found == NULL && device.handle == 0))
        return;
    // Nothing can be done about a failure here, and the operation's own result
    // is what the caller asked about.
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
// while another one captures a stream in the global mode, which is PyTorch's default:
// they would fail, and that capture would be lost. None of them depends on the
// capture, so the thread asks for the relaxed mode for as long as the call takes.
// PyTorch's own allocator does the same.
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
