//go:build linux && cgo && (amd64 || arm64)

#define _GNU_SOURCE // RTLD_DEFAULT

#include "context.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// The driver takes the size of a buffer in the word of its option's value, and writes
// the used size there. The buffers are zeroed, so the used size is not needed.
int32_t shim_module_load(shim_device device, uintptr_t *module, const char *image, char *errors, char *notes, size_t size) {
    CUjit_option options[] = {
        CU_JIT_ERROR_LOG_BUFFER,
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_INFO_LOG_BUFFER,
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_GENERATE_LINE_INFO, // keeps the line tables of the PTX, for profilers; the code is the same
    };
    void *values[] = {errors, (void *)(uintptr_t)size, notes, (void *)(uintptr_t)size, (void *)1};
    IN_CONTEXT(device, cuModuleLoadDataEx((CUmodule *)module, image, 5, options, values));
}

// The linker keeps the cubin and the logs until it is destroyed. The whole sequence is
// therefore one operation, and the cubin is copied, for the caller to free.
static CUresult compile(void **cubin, size_t *bytes, const char *text, size_t text_bytes, char *errors, char *notes, size_t size) {
    CUjit_option options[] = {
        CU_JIT_ERROR_LOG_BUFFER,
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_INFO_LOG_BUFFER,
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_GENERATE_LINE_INFO,
    };
    void *values[] = {errors, (void *)(uintptr_t)size, notes, (void *)(uintptr_t)size, (void *)1};
    CUlinkState link = NULL;
    CUresult result = cuLinkCreate(5, options, values, &link);
    if (result != CUDA_SUCCESS)
        return result;
    void *linked = NULL;
    result = cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)text, text_bytes, "gpuframe", 0, NULL, NULL);
    if (result == CUDA_SUCCESS)
        result = cuLinkComplete(link, &linked, bytes);
    if (result == CUDA_SUCCESS) {
        *cubin = malloc(*bytes);
        if (*cubin == NULL)
            result = CUDA_ERROR_OUT_OF_MEMORY;
        else
            memcpy(*cubin, linked, *bytes);
    }
    (void)cuLinkDestroy(link); // only the compiler's result counts
    return result;
}

int32_t shim_module_compile(shim_device device, void **cubin, size_t *bytes, const char *text, size_t text_bytes, char *errors, char *notes, size_t size) {
    IN_CONTEXT(device, compile(cubin, bytes, text, text_bytes, errors, notes, size));
}

int32_t shim_function_set_attribute(shim_device device, uintptr_t function, int32_t attribute, int32_t value) {
    IN_CONTEXT(device, cuFuncSetAttribute((CUfunction)function, attribute, value));
}

// CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, which CUDA 11.8's header does not name.
enum { needs_newer_driver = 36 };

// The function is from CUDA 12.4 and the header may be older. The driver is loaded, so
// the function is looked up at run time.
int32_t shim_function_parameter(shim_device device, uintptr_t function, size_t index, size_t *offset, size_t *bytes) {
    CUresult (*parameter)(CUfunction, size_t, size_t *, size_t *) = dlsym(RTLD_DEFAULT, "cuFuncGetParamInfo");
    if (parameter == NULL)
        return needs_newer_driver;
    IN_CONTEXT(device, parameter((CUfunction)function, index, offset, bytes));
}

// The driver takes an array of pointers to arguments, and reads each argument at the
// width that the kernel declares. The array is built here because Go may not pass C an
// array of Go pointers; the driver copies the arguments before it returns.
int32_t shim_launch(shim_device device, uintptr_t function, const uint32_t *shape, uint32_t shared, uintptr_t stream,
                    const uint64_t *slots, const uint32_t *starts, uint32_t count) {
    void *arguments[SHIM_LAUNCH_ARGUMENTS];
    if (count > SHIM_LAUNCH_ARGUMENTS)
        return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = (void *)(slots + starts[i]);
    IN_CONTEXT(device, cuLaunchKernel((CUfunction)function, shape[0], shape[1], shape[2], shape[3], shape[4], shape[5],
                                      shared, (CUstream)stream, count > 0 ? arguments : NULL, NULL));
}
