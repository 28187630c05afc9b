#include <stddef.h>
#include <stdint.h>

// struct driver holds the driver functions of the comparison. Streams, pools and
// functions are pointers, as in the driver's headers.
struct driver {
    int (*ctx_set_current)(void *);
    int (*ctx_synchronize)(void);
    int (*primary_retain)(void **, int);
    int (*device_get)(int *, int);
    int (*mem_alloc)(uint64_t *, size_t);
    int (*mem_free)(uint64_t);
    int (*mem_alloc_async)(uint64_t *, size_t, void *);
    int (*mem_alloc_from_pool_async)(uint64_t *, size_t, void *, void *);
    int (*mem_free_async)(uint64_t, void *);
    int (*pool_create)(void **, const void *);
    int (*pool_destroy)(void *);
    int (*pool_set_attribute)(void *, int, void *);
    int (*pool_get_attribute)(void *, int, void *);
    int (*copy_to_device)(uint64_t, const void *, size_t);
    int (*copy_to_device_async)(uint64_t, const void *, size_t, void *);
    int (*copy_to_host_async)(void *, uint64_t, size_t, void *);
    int (*launch_kernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                         void **);
    int (*stream_synchronize)(void *);
};

extern struct driver cu;

// peer_context is the device's primary context, peer_ordinal its number.
extern void *peer_context;
extern int peer_ordinal;

// peer_now reads the clock, in nanoseconds.
int64_t peer_now(void);

// TIMED runs an operation n times between two readings of the clock.
#define TIMED(operation)                      \
    cu.ctx_set_current(peer_context);         \
    int64_t start = peer_now();               \
    for (int i = 0; i < n; i++) {             \
        int result = (operation);             \
        if (result) return -(int64_t)result;  \
    }                                         \
    return peer_now() - start
