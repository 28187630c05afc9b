//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

#include <stdlib.h>
#include <string.h>

// The driver takes the size of a buffer in the word of its option's value, and writes
// the used size there. The buffers are zeroed, so the used size is not needed.
int32_t libcuda_module_load(libcuda_device device, uintptr_t *module, const char *image, char *errors, char *notes, size_t size) {
    int options[] = {
        CU_JIT_ERROR_LOG_BUFFER,
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_INFO_LOG_BUFFER,
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_GENERATE_LINE_INFO, // keeps the line tables of the PTX, for profilers; the code is the same
    };
    void *values[] = {errors, (void *)(uintptr_t)size, notes, (void *)(uintptr_t)size, (void *)1};
    LIBCUDA_IN_CONTEXT(device, libcuda.cuModuleLoadDataEx((CUmodule *)module, image, 5, options, values));
}

// The linker keeps the cubin and the logs until it is destroyed. The whole sequence is
// therefore one operation, and the cubin is copied, for the caller to free.
static CUresult compile(void **cubin, size_t *bytes, const char *text, size_t text_bytes, char *errors, char *notes, size_t size) {
    int options[] = {
        CU_JIT_ERROR_LOG_BUFFER,
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_INFO_LOG_BUFFER,
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        CU_JIT_GENERATE_LINE_INFO,
    };
    void *values[] = {errors, (void *)(uintptr_t)size, notes, (void *)(uintptr_t)size, (void *)1};
    CUlinkState link = NULL;
    CUresult result = libcuda.cuLinkCreate_v2(5, options, values, &link);
    if (result != CUDA_SUCCESS)
        return result;
    void *linked = NULL;
    result = libcuda.cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)text, text_bytes, "gpuframe", 0, NULL, NULL);
    if (result == CUDA_SUCCESS)
        result = libcuda.cuLinkComplete(link, &linked, bytes);
    if (result == CUDA_SUCCESS) {
        *cubin = malloc(*bytes);
        if (*cubin == NULL)
            result = CUDA_ERROR_OUT_OF_MEMORY;
        else
            memcpy(*cubin, linked, *bytes);
    }
    (void)libcuda.cuLinkDestroy(link); // only the compiler's result counts
    return result;
}

int32_t libcuda_module_compile(libcuda_device device, void **cubin, size_t *bytes, const char *text, size_t text_bytes, char *errors, char *notes, size_t size) {
    LIBCUDA_IN_CONTEXT(device, compile(cubin, bytes, text, text_bytes, errors, notes, size));
}

int32_t libcuda_module_unload(libcuda_device device, uintptr_t module) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuModuleUnload((CUmodule)module));
}

int32_t libcuda_module_function(libcuda_device device, uintptr_t *function, uintptr_t module, const char *name) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuModuleGetFunction((CUfunction *)function, (CUmodule)module, name));
}

int32_t libcuda_function_attribute(libcuda_device device, int32_t *value, int32_t attribute, uintptr_t function) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuFuncGetAttribute(value, attribute, (CUfunction)function));
}

int32_t libcuda_function_set_attribute(libcuda_device device, uintptr_t function, int32_t attribute, int32_t value) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuFuncSetAttribute((CUfunction)function, attribute, value));
}

int32_t libcuda_function_parameter(libcuda_device device, uintptr_t function, size_t index, size_t *offset, size_t *bytes) {
    LIBCUDA_NEEDS(cuFuncGetParamInfo);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuFuncGetParamInfo((CUfunction)function, index, offset, bytes));
}

int32_t libcuda_occupancy(libcuda_device device, int32_t *blocks, uintptr_t function, int32_t threads, size_t shared) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (CUfunction)function, threads, shared));
}

// The driver takes an array of pointers to arguments. It is built here because Go may
// not pass C an array of Go pointers; the driver copies the arguments before it
// returns.
int32_t libcuda_launch(libcuda_device device, uintptr_t function, const uint32_t *shape, uint32_t shared, uintptr_t stream,
                       const uint64_t *slots, const uint32_t *starts, uint32_t count) {
    void *arguments[LIBCUDA_LAUNCH_ARGUMENTS];
    if (count > LIBCUDA_LAUNCH_ARGUMENTS)
        return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = (void *)(slots + starts[i]);
    LIBCUDA_IN_CONTEXT(device, libcuda.cuLaunchKernel((CUfunction)function, shape[0], shape[1], shape[2], shape[3], shape[4], shape[5],
                                                      shared, (CUstream)stream, count > 0 ? arguments : NULL, NULL));
}
