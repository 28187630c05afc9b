#include "driver.h"

#include <dlfcn.h>
#include <time.h>

#include "peer.h"

struct driver cu;
void *peer_context;
int peer_ordinal;

static const struct {
    void **function;
    const char *name;
} symbols[] = {
    {(void **)&cu.ctx_set_current, "cuCtxSetCurrent"},
    {(void **)&cu.ctx_synchronize, "cuCtxSynchronize"},
    {(void **)&cu.primary_retain, "cuDevicePrimaryCtxRetain"},
    {(void **)&cu.device_get, "cuDeviceGet"},
    {(void **)&cu.mem_alloc, "cuMemAlloc_v2"},
    {(void **)&cu.mem_free, "cuMemFree_v2"},
    {(void **)&cu.mem_alloc_async, "cuMemAllocAsync"},
    {(void **)&cu.mem_alloc_from_pool_async, "cuMemAllocFromPoolAsync"},
    {(void **)&cu.mem_free_async, "cuMemFreeAsync"},
    {(void **)&cu.pool_create, "cuMemPoolCreate"},
    {(void **)&cu.pool_destroy, "cuMemPoolDestroy"},
    {(void **)&cu.pool_set_attribute, "cuMemPoolSetAttribute"},
    {(void **)&cu.pool_get_attribute, "cuMemPoolGetAttribute"},
    {(void **)&cu.copy_to_device, "cuMemcpyHtoD_v2"},
    {(void **)&cu.copy_to_device_async, "cuMemcpyHtoDAsync_v2"},
    {(void **)&cu.copy_to_host_async, "cuMemcpyDtoHAsync_v2"},
    {(void **)&cu.launch_kernel, "cuLaunchKernel"},
    {(void **)&cu.stream_synchronize, "cuStreamSynchronize"},
};

int peer_open(int ordinal) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return -1;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        *symbols[i].function = dlsym(library, symbols[i].name);
        if (!*symbols[i].function) return -1;
    }
    int device, result = cu.device_get(&device, ordinal);
    if (result) return result;
    peer_ordinal = ordinal;
    return cu.primary_retain(&peer_context, device);
}

int64_t peer_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
