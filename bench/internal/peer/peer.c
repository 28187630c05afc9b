#include "peer.h"

#include "driver.h"

int64_t peer_launch(int n, void *function, void *stream) {
    TIMED(cu.launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}

static int pair(size_t bytes) {
    uint64_t pointer;
    int result = cu.mem_alloc(&pointer, bytes);
    return result ? result : cu.mem_free(pointer);
}

int64_t peer_alloc(int n, size_t bytes) { TIMED(pair(bytes)); }

static int pair_async(size_t bytes, void *stream) {
    uint64_t pointer;
    int result = cu.mem_alloc_async(&pointer, bytes, stream);
    return result ? result : cu.mem_free_async(pointer, stream);
}

int64_t peer_alloc_async(int n, size_t bytes, void *stream) { TIMED(pair_async(bytes, stream)); }

static int to_device(uint64_t to, const void *from, size_t bytes, void *stream) {
    int result = cu.copy_to_device_async(to, from, bytes, stream);
    return result ? result : cu.stream_synchronize(stream);
}

int64_t peer_to_device(int n, uint64_t to, const void *from, size_t bytes, void *stream) {
    TIMED(to_device(to, from, bytes, stream));
}

int64_t peer_to_device_pageable(int n, uint64_t to, const void *from, size_t bytes) {
    TIMED(cu.copy_to_device(to, from, bytes));
}

static int to_host(void *to, uint64_t from, size_t bytes, void *stream) {
    int result = cu.copy_to_host_async(to, from, bytes, stream);
    return result ? result : cu.stream_synchronize(stream);
}

int64_t peer_to_host(int n, void *to, uint64_t from, size_t bytes, void *stream) {
    TIMED(to_host(to, from, bytes, stream));
}
