#include "peer.h"

#include <dlfcn.h>
#include <stddef.h>
#include <time.h>

static int (*ctx_set_current)(void *);
static int (*primary_retain)(void **, int);
static int (*device_get)(int *, int);
static int (*mem_alloc)(uint64_t *, size_t);
static int (*mem_free)(uint64_t);
static int (*mem_alloc_async)(uint64_t *, size_t, void *);
static int (*mem_free_async)(uint64_t, void *);
static int (*copy_to_device)(uint64_t, const void *, size_t);
static int (*copy_to_device_async)(uint64_t, const void *, size_t, void *);
static int (*copy_to_host_async)(void *, uint64_t, size_t, void *);
static int (*launch_kernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                            void **, void **);
static int (*stream_synchronize)(void *);

static const struct {
    void **function;
    const char *name;
} symbols[] = {
    {(void **)&ctx_set_current, "cuCtxSetCurrent"},
    {(void **)&primary_retain, "cuDevicePrimaryCtxRetain"},
    {(void **)&device_get, "cuDeviceGet"},
    {(void **)&mem_alloc, "cuMemAlloc_v2"},
    {(void **)&mem_free, "cuMemFree_v2"},
    {(void **)&mem_alloc_async, "cuMemAllocAsync"},
    {(void **)&mem_free_async, "cuMemFreeAsync"},
    {(void **)&copy_to_device, "cuMemcpyHtoD_v2"},
    {(void **)&copy_to_device_async, "cuMemcpyHtoDAsync_v2"},
    {(void **)&copy_to_host_async, "cuMemcpyDtoHAsync_v2"},
    {(void **)&launch_kernel, "cuLaunchKernel"},
    {(void **)&stream_synchronize, "cuStreamSynchronize"},
};

static void *context;

int peer_open(int ordinal) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return -1;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        *symbols[i].function = dlsym(library, symbols[i].name);
        if (!*symbols[i].function) return -1;
    }
    int device, result = device_get(&device, ordinal);
    return result ? result : primary_retain(&context, device);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// TIMED runs an operation n times between two readings of the clock.
#define TIMED(operation)                                \
    ctx_set_current(context);                           \
    int64_t start = now();                              \
    for (int i = 0; i < n; i++) {                       \
        int result = (operation);                       \
        if (result) return -(int64_t)result;            \
    }                                                   \
    return now() - start

int64_t peer_launch(int n, void *function, void *stream) {
    TIMED(launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}

static int pair(size_t bytes) {
    uint64_t pointer;
    int result = mem_alloc(&pointer, bytes);
    return result ? result : mem_free(pointer);
}

int64_t peer_alloc(int n, size_t bytes) { TIMED(pair(bytes)); }

static int pair_async(size_t bytes, void *stream) {
    uint64_t pointer;
    int result = mem_alloc_async(&pointer, bytes, stream);
    return result ? result : mem_free_async(pointer, stream);
}

int64_t peer_alloc_async(int n, size_t bytes, void *stream) { TIMED(pair_async(bytes, stream)); }

static int to_device(uint64_t to, const void *from, size_t bytes, void *stream) {
    int result = copy_to_device_async(to, from, bytes, stream);
    return result ? result : stream_synchronize(stream);
}

int64_t peer_to_device(int n, uint64_t to, const void *from, size_t bytes, void *stream) {
    TIMED(to_device(to, from, bytes, stream));
}

int64_t peer_to_device_pageable(int n, uint64_t to, const void *from, size_t bytes) {
    TIMED(copy_to_device(to, from, bytes));
}

static int to_host(void *to, uint64_t from, size_t bytes, void *stream) {
    int result = copy_to_host_async(to, from, bytes, stream);
    return result ? result : stream_synchronize(stream);
}

int64_t peer_to_host(int n, void *to, uint64_t from, size_t bytes, void *stream) {
    TIMED(to_host(to, from, bytes, stream));
}
