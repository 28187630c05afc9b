//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

#include <string.h>

// Describing a device needs no context. Retaining and releasing a context do not change
// the thread's current context.

int32_t libcuda_init(void) {
    return libcuda.cuInit(0);
}

int32_t libcuda_driver_version(int32_t *version) {
    return libcuda.cuDriverGetVersion(version);
}

int32_t libcuda_device_count(int32_t *count) {
    return libcuda.cuDeviceGetCount(count);
}

int32_t libcuda_device_get(int32_t *handle, int32_t ordinal) {
    return libcuda.cuDeviceGet(handle, ordinal);
}

int32_t libcuda_device_name(char *name, int32_t size, int32_t handle) {
    return libcuda.cuDeviceGetName(name, size, handle);
}

int32_t libcuda_device_total_memory(size_t *bytes, int32_t handle) {
    return libcuda.cuDeviceTotalMem_v2(bytes, handle);
}

// The second version distinguishes the instances of a partitioned GPU (MIG); the first
// returns the UUID of the whole GPU for each.
int32_t libcuda_device_uuid(char *uuid, int32_t handle) {
    CUuuid value = {{0}};
    CUresult result;
    if (libcuda.cuDeviceGetUuid_v2 != NULL) {
        result = libcuda.cuDeviceGetUuid_v2(&value, handle);
    } else {
        LIBCUDA_NEEDS(cuDeviceGetUuid);
        result = libcuda.cuDeviceGetUuid(&value, handle);
    }
    memcpy(uuid, value.bytes, sizeof value.bytes);
    return result;
}

int32_t libcuda_device_attribute(int32_t *value, int32_t attribute, int32_t handle) {
    return libcuda.cuDeviceGetAttribute(value, attribute, handle);
}

int32_t libcuda_context_retain(uintptr_t *context, int32_t handle) {
    return libcuda.cuDevicePrimaryCtxRetain((CUcontext *)context, handle);
}

int32_t libcuda_context_release(int32_t handle) {
    return libcuda.cuDevicePrimaryCtxRelease_v2(handle);
}

int32_t libcuda_synchronize(libcuda_device device) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuCtxSynchronize());
}

int32_t libcuda_memory_info(libcuda_device device, size_t *free, size_t *total) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemGetInfo_v2(free, total));
}
