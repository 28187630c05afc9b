#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "driver.h"
#include "peer.h"

enum { out_of_memory = 2 };
enum { release_threshold = 4, reserved_current = 5, reserved_high = 6 };

// The properties that cuMemPoolCreate reads. Newer drivers read further fields, which
// must be zero.
struct pool_properties {
    int allocation_type, handle_types;
    int location_type, location;
    unsigned char rest[128];
};

int peer_pool_create(uint64_t initial, void *stream, void **pool) {
    enum { pinned = 1, on_device = 1 };
    struct pool_properties properties = {
        .allocation_type = pinned, .location_type = on_device, .location = peer_ordinal};
    cu.ctx_set_current(peer_context);
    int result = cu.pool_create(pool, &properties);
    if (result) return result;
    uint64_t everything = UINT64_MAX, pointer;
    result = cu.pool_set_attribute(*pool, release_threshold, &everything);
    if (!result && initial) {
        result = cu.mem_alloc_from_pool_async(&pointer, initial, *pool, stream);
        if (!result) result = cu.mem_free_async(pointer, stream);
        if (!result) result = cu.stream_synchronize(stream);
    }
    if (result) cu.pool_destroy(*pool);
    return result;
}

int peer_pool_destroy(void *pool) {
    cu.ctx_set_current(peer_context);
    int result = cu.ctx_synchronize();
    int destroyed = cu.pool_destroy(pool);
    return result ? result : destroyed;
}

int peer_pool_reserved(void *pool, uint64_t *current, uint64_t *high) {
    cu.ctx_set_current(peer_context);
    int result = cu.pool_get_attribute(pool, reserved_current, current);
    return result ? result : cu.pool_get_attribute(pool, reserved_high, high);
}

static int pair(size_t bytes, void *pool, void *stream) {
    uint64_t pointer;
    int result = cu.mem_alloc_from_pool_async(&pointer, bytes, pool, stream);
    return result ? result : cu.mem_free_async(pointer, stream);
}

int64_t peer_pool_pairs(int n, size_t bytes, void *pool, void *stream) { TIMED(pair(bytes, pool, stream)); }

int64_t peer_pool_replay(size_t n, const uint64_t *bytes, const uint32_t *slots, size_t slot_count, int64_t limit,
                         void *pool, void *stream, size_t *done) {
    uint64_t *pointers = calloc(slot_count, sizeof *pointers);
    if (!pointers) return -out_of_memory;
    int result = 0;
    int64_t took = 0;
    size_t i;
    cu.ctx_set_current(peer_context);
    int64_t start = peer_now();
    for (i = 0; i < n && !result; i++) {
        uint64_t *pointer = &pointers[slots[i]];
        if (bytes[i]) {
            result = cu.mem_alloc_from_pool_async(pointer, bytes[i], pool, stream);
        } else {
            result = cu.mem_free_async(*pointer, stream);
            *pointer = 0;
        }
        if (i % 256 == 0 && peer_now() - start > limit) break;
    }
    took = peer_now() - start;
    *done = i;
    for (size_t slot = 0; slot < slot_count; slot++) {
        if (pointers[slot]) cu.mem_free_async(pointers[slot], stream);
    }
    free(pointers);
    return result ? -(int64_t)result : took;
}

// struct worker is one thread of peer_pool_threads.
struct worker {
    pthread_t thread;
    pthread_barrier_t *ready;
    atomic_int *stop;
    size_t bytes;
    void *pool, *stream;
    uint64_t pairs;
    int result;
};

static void *work(void *argument) {
    struct worker *w = argument;
    cu.ctx_set_current(peer_context);
    for (int i = 0; i < 100 && !w->result; i++) w->result = pair(w->bytes, w->pool, w->stream);
    pthread_barrier_wait(w->ready);
    while (!w->result && !atomic_load_explicit(w->stop, memory_order_relaxed)) {
        for (int i = 0; i < 32 && !w->result; i++) w->result = pair(w->bytes, w->pool, w->stream);
        w->pairs += 32;
    }
    return NULL;
}

int64_t peer_pool_threads(int threads, int64_t nanoseconds, size_t bytes, void *pool, const uint64_t *streams,
                          uint64_t *pairs) {
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    if (!workers) return -out_of_memory;
    pthread_barrier_t ready;
    atomic_int stop = 0;
    int64_t result = 0;
    *pairs = 0;
    pthread_barrier_init(&ready, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        struct worker *w = &workers[i];
        w->ready = &ready, w->stop = &stop, w->bytes = bytes, w->pool = pool;
        w->stream = (void *)(uintptr_t)streams[i];
        if (pthread_create(&w->thread, NULL, work, w)) abort();
    }
    pthread_barrier_wait(&ready);
    int64_t start = peer_now();
    struct timespec pause = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&pause, NULL);
    atomic_store(&stop, 1);
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        *pairs += workers[i].pairs;
        if (workers[i].result) result = -(int64_t)workers[i].result;
    }
    int64_t took = peer_now() - start;
    pthread_barrier_destroy(&ready);
    free(workers);
    return result ? result : took;
}

static int round_of_kernels(int kernels, int stream_count, const uint64_t *streams, void *pool, void *function) {
    int result = 0;
    for (int i = 0; i < kernels && !result; i++) {
        void *stream = (void *)(uintptr_t)streams[i % stream_count];
        uint64_t pointer;
        result = cu.mem_alloc_from_pool_async(&pointer, sizeof(int64_t), pool, stream);
        if (result) break;
        void *arguments[] = {&pointer};
        result = cu.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
        int freed = cu.mem_free_async(pointer, stream);
        if (!result) result = freed;
    }
    return result ? result : cu.ctx_synchronize();
}

int64_t peer_pool_kernels(int n, int kernels, int stream_count, const uint64_t *streams, void *pool, void *function) {
    TIMED(round_of_kernels(kernels, stream_count, streams, pool, function));
}
