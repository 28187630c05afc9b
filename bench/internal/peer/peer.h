#include <stddef.h>
#include <stdint.h>

// Unless documented otherwise, a function returns the nanoseconds of n operations, or a
// negative CUresult.
int peer_open(int ordinal);
int64_t peer_launch(int n, void *function, void *stream);
int64_t peer_alloc(int n, size_t bytes);
int64_t peer_alloc_async(int n, size_t bytes, void *stream);
int64_t peer_to_device(int n, uint64_t to, const void *from, size_t bytes, void *stream);
int64_t peer_to_device_pageable(int n, uint64_t to, const void *from, size_t bytes);
int64_t peer_to_host(int n, void *to, uint64_t from, size_t bytes, void *stream);

// A pool of the driver that keeps all its memory. These three return a CUresult.
int peer_pool_create(uint64_t initial, void *stream, void **pool);
int peer_pool_destroy(void *pool);
int peer_pool_reserved(void *pool, uint64_t *current, uint64_t *high);

int64_t peer_pool_pairs(int n, size_t bytes, void *pool, void *stream);

// peer_pool_replay runs n operations in sequence: operation i allocates bytes[i] into
// slots[i] or, if bytes[i] is zero, frees the memory in the slot. It stops early at the
// limit, in nanoseconds; done receives the number of operations. The remaining memory
// is freed after the time was taken.
int64_t peer_pool_replay(size_t n, const uint64_t *bytes, const uint32_t *slots, size_t slot_count, int64_t limit,
                         void *pool, void *stream, size_t *done);

// peer_pool_threads runs threads that allocate and free for a time, each on one of the
// streams, and counts the pairs.
int64_t peer_pool_threads(int threads, int64_t nanoseconds, size_t bytes, void *pool, const uint64_t *streams,
                          uint64_t *pairs);

// peer_pool_kernels runs rounds: kernels in sequence, alternating between the streams,
// each with separate memory for one number, and a wait for all of them.
int64_t peer_pool_kernels(int n, int kernels, int stream_count, const uint64_t *streams, void *pool, void *function);
