#include <stddef.h>
#include <stdint.h>

// Each returns the nanoseconds of n operations, or a negative CUresult.
int peer_open(int ordinal);
int64_t peer_launch(int n, void *function, void *stream);
int64_t peer_alloc(int n, size_t bytes);
int64_t peer_alloc_async(int n, size_t bytes, void *stream);
int64_t peer_to_device(int n, uint64_t to, const void *from, size_t bytes, void *stream);
int64_t peer_to_device_pageable(int n, uint64_t to, const void *from, size_t bytes);
int64_t peer_to_host(int n, void *to, uint64_t from, size_t bytes, void *stream);
