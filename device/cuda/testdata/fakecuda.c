// A driver library for machines without a GPU. It implements the driver's documented
// behaviour as far as gpuframe depends on it: which functions need a current context,
// which handles and values are refused, and with which code. Device memory is malloc's,
// and all work is done before a call returns.
//
// Its signatures were written from the driver's reference, independently of those in
// internal/libcuda, so that an error in one does not hide in the other.
//
// Built with -DCUDA_11_0 it lacks the functions that are newer than CUDA 11.0, with
// -DMINIMAL also the older functions that gpuframe does not require, and with
// -DCUDA_10_0 a required function too. Environment variables, read at every call,
// control it further:
//
//   FAKE_LOG      a file to which every call is appended with its arguments
//   FAKE_FAIL     name=code: that function fails
//   FAKE_DEVICES  the number of devices, 2 by default and 8 at most
//   FAKE_NO_POOLS the devices have no memory pools
//   FAKE_NO_MAPS  the devices cannot map memory
//   FAKE_NO_SHARING  other processes cannot open the mapped memory
//   FAKE_NO_READING  the devices have no mappings for reading only
//   FAKE_OLD_GPU  the devices have no managed memory, or with the value 1 none
//                 that can be prefetched
//   FAKE_UNIT     the granularity recommended, 2 MiB by default
//   FAKE_GLOBAL_CAPTURES  streams are captured in the global mode, not in the requested
//                 one: calls of other threads that are not relaxed break the capture
//   FAKE_MANAGED  every address is managed memory
//   FAKE_CRASH    using a stream or an event that was destroyed ends the process,
//                 as it may with the driver

#define _GNU_SOURCE // memfd_create

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined MINIMAL && !defined CUDA_11_0
#define CUDA_11_0
#endif

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct context *CUcontext;
typedef struct object *CUstream, *CUevent, *CUmodule, *CUfunction, *CUmemoryPool, *CUlinkState, *CUgraph, *CUgraphExec;

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    LAUNCH_OUT_OF_RESOURCES = 701,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    HOST_MEMORY_ALREADY_REGISTERED = 712,
    HOST_MEMORY_NOT_REGISTERED = 713,
    STREAM_CAPTURE_UNSUPPORTED = 900,
    STREAM_CAPTURE_INVALIDATED = 901,
    STREAM_CAPTURE_ISOLATION = 905,
    ILLEGAL_STATE = 401,
    CAPTURED_EVENT = 907,
    STREAM_CAPTURE_IMPLICIT = 906,
};

enum { MOST_DEVICES = 8, MOST_BLOCKS = 4096, POOL_ATTRIBUTES = 9 };
static const size_t device_memory = (size_t)1 << 30;
static const size_t pool_unit = (size_t)32 << 20;

struct context {
    int device;
    int references;
    int peers[MOST_DEVICES];
};

enum kind { STREAM = 1, EVENT, MODULE, FUNCTION, POOL, LINK, GRAPH, EXECUTABLE };

// work is a copy, a fill or a launch that was captured.
struct work {
    struct work *next;
    char *to;
    const char *from;                  // copy
    size_t bytes;                      // copy
    unsigned value, width, count;      // fill, or launch with a width of zero
};

// A capture belongs to a stream until it ends, and then to a graph and to the
// executable graphs made from it. None is freed.
struct capture {
    struct work *first, **last;
    int lost;
    int mode;
    int blocking; // whether the stream waits for the legacy one
    int over;     // ended: streams that had joined it are no longer captured
    struct object *origin; // the stream that it was begun on
};

// object is the object of a handle.
struct object {
    enum kind kind;
    int timing, recorded;                  // event
    unsigned long long identity;           // stream
    int blocking;                          // stream: it waits for the legacy one
    float milliseconds;                    // event
    char *text;                            // module: PTX, function: name
    int shared;                            // function
    int device;                            // pool
    unsigned long long attributes[POOL_ATTRIBUTES];
    size_t maximum;
    struct capture *capture;               // stream, graph; event: the capture it was recorded in
};

enum memory { NONE, DEVICE, POOLED, MANAGED, PINNED, REGISTERED, MAPPED };

struct block {
    enum memory memory;
    char *start;
    size_t bytes;
    int device;
    CUmemoryPool pool;
    int physical;   // mapped: its number
    int accessible; // mapped: 1 for reading, 3 for writing too
    int reach[MOST_DEVICES]; // mapped: the same for each device
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct block blocks[MOST_BLOCKS];
static struct context contexts[MOST_DEVICES];
static struct object default_pools[MOST_DEVICES];
static size_t used[MOST_DEVICES];
static float clock_milliseconds;
static int initialised;
static __thread CUcontext current;

static int device_count(void) {
    const char *count = getenv("FAKE_DEVICES");
    return count != NULL ? atoi(count) : 2;
}

// entered logs a call and returns the code that it must fail with, or zero.
static CUresult entered(const char *name, const char *format, ...) {
    const char *path = getenv("FAKE_LOG");
    if (path != NULL && *path != 0) {
        FILE *file = fopen(path, "a");
        if (file != NULL) {
            va_list arguments;
            va_start(arguments, format);
            fprintf(file, "%s(", name);
            vfprintf(file, format, arguments);
            fprintf(file, ")\n");
            va_end(arguments);
            fclose(file);
        }
    }
    const char *fail = getenv("FAKE_FAIL");
    size_t length = strlen(name);
    if (fail != NULL && strncmp(fail, name, length) == 0 && fail[length] == '=')
        return atoi(fail + length + 1);
    return SUCCESS;
}

#define ENTER(...)                              \
    do {                                        \
        CUresult planned = entered(__VA_ARGS__); \
        if (planned != SUCCESS)                 \
            return planned;                     \
    } while (0)

#define NEED_INIT          \
    do {                   \
        if (!initialised)  \
            return NOT_INITIALIZED; \
    } while (0)

#define NEED_CONTEXT                                       \
    do {                                                   \
        NEED_INIT;                                         \
        if (current == NULL || current->references == 0)   \
            return INVALID_CONTEXT;                        \
    } while (0)

#define NEED_DEVICE(device)                           \
    do {                                              \
        NEED_INIT;                                    \
        if (device < 0 || device >= device_count())   \
            return INVALID_DEVICE;                    \
    } while (0)

#define NEED_HANDLE(handle, wanted)                              \
    do {                                                         \
        crash_if_destroyed(handle);                              \
        if (handle == NULL || handle->kind != wanted)            \
            return INVALID_HANDLE;                               \
    } while (0)

// crash_if_destroyed ends the process if the handle's object was destroyed.
static void crash_if_destroyed(CUstream handle) {
    if (handle != NULL && handle->kind == 0 && getenv("FAKE_CRASH") != NULL) {
        fprintf(stderr, "fakecuda: handle %p was destroyed\n", (void *)handle);
        abort();
    }
}

// 0, 1 and 2 are the default streams.
#define NEED_STREAM(stream)                    \
    do {                                       \
        if ((uintptr_t)stream > 2)             \
            NEED_HANDLE(stream, STREAM);       \
    } while (0)

// capture_of returns the capture of a stream, or NULL if its work runs immediately.
static struct capture *capture_of(CUstream stream) {
    return (uintptr_t)stream > 2 && stream->capture != NULL && !stream->capture->over ? stream->capture : NULL;
}

static int captures;          // how many are under way
static int global_captures;   // of these, how many in the global mode
static __thread int capture_mode; // of the thread: 0 is global, 2 relaxed

// begun are the captures in progress, which some calls invalidate.
enum { MOST_CAPTURES = 64 };
static struct capture *begun[MOST_CAPTURES];

static void lose_captures(int all) {
    for (int i = 0; i < MOST_CAPTURES; i++) {
        if (begun[i] != NULL && (all || begun[i]->mode == 0))
            begun[i]->lost = 1;
    }
}

// NOT_WHILE_CAPTURING is for calls that a thread must not make while a stream is
// captured in the global mode, unless the thread's mode is relaxed. It invalidates the
// captures.
#define NOT_WHILE_CAPTURING                             \
    do {                                                \
        if (global_captures > 0 && capture_mode != 2) { \
            lose_captures(0);                           \
            return STREAM_CAPTURE_UNSUPPORTED;          \
        }                                               \
    } while (0)

// append adds work to a capture.
static CUresult append(struct capture *capture, struct work work) {
    if (capture->lost)
        return STREAM_CAPTURE_INVALIDATED;
    struct work *copy = malloc(sizeof *copy);
    *copy = work;
    *capture->last = copy;
    capture->last = &copy->next;
    return SUCCESS;
}

// NOT_CAPTURED is for operations that a captured stream cannot do. It invalidates the
// capture.
#define NOT_CAPTURED(stream, code)                  \
    do {                                            \
        if (capture_of(stream) != NULL) {           \
            capture_of(stream)->lost = 1;           \
            return code;                            \
        }                                           \
    } while (0)

static struct object *make(enum kind kind) {
    struct object *object = calloc(1, sizeof *object);
    object->kind = kind;
    return object;
}

// Destroyed objects are kept without a kind, so that using one is refused.
static void unmake(struct object *object) {
    free(object->text);
    object->text = NULL;
    object->kind = 0;
}

// ---- start and devices

CUresult cuInit(unsigned flags) {
    ENTER("cuInit", "%u", flags);
    if (device_count() == 0)
        return NO_DEVICE;
    for (int i = 0; i < MOST_DEVICES; i++) {
        contexts[i].device = i;
        default_pools[i].kind = POOL;
        default_pools[i].device = i;
    }
    initialised = 1;
    return SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
    ENTER("cuDriverGetVersion", "");
#if defined CUDA_11_0 || defined CUDA_10_0
    *version = 11000;
#else
    *version = 13000;
#endif
    return SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    ENTER("cuDeviceGetCount", "");
    NEED_INIT;
    *count = device_count();
    return SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    ENTER("cuDeviceGet", "%d", ordinal);
    NEED_DEVICE(ordinal);
    *device = ordinal;
    return SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    ENTER("cuDeviceGetName", "%d, %d", length, device);
    NEED_DEVICE(device);
    snprintf(name, length, "Fake GPU %d", device);
    return SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    ENTER("cuDeviceTotalMem_v2", "%d", device);
    NEED_DEVICE(device);
    *bytes = device_memory;
    return SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    ENTER("cuDeviceGetAttribute", "%d, %d", attribute, device);
    NEED_DEVICE(device);
    switch (attribute) {
    case 1: *value = 1024; return SUCCESS;
    case 16: *value = 132; return SUCCESS;
    case 75: *value = 9; return SUCCESS;
    case 76: *value = 0; return SUCCESS;
    case 83: *value = getenv("FAKE_OLD_GPU") == NULL || *getenv("FAKE_OLD_GPU") == '1'; return SUCCESS;
    case 89: *value = getenv("FAKE_OLD_GPU") == NULL; return SUCCESS;
    case 97: *value = 227 << 10; return SUCCESS;
    case 102: *value = getenv("FAKE_NO_MAPS") == NULL; return SUCCESS;
    case 103: *value = getenv("FAKE_NO_SHARING") == NULL && getenv("FAKE_NO_MAPS") == NULL; return SUCCESS;
    case 115: *value = getenv("FAKE_NO_POOLS") == NULL; return SUCCESS;
    }
    return INVALID_VALUE;
}

CUresult cuDeviceGetUuid(char *uuid, CUdevice device) {
    ENTER("cuDeviceGetUuid", "%d", device);
    NEED_DEVICE(device);
    for (int i = 0; i < 16; i++)
        uuid[i] = (char)(0x10 * device + i);
    return SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    ENTER("cuDevicePrimaryCtxRetain", "%d", device);
    NEED_DEVICE(device);
    __atomic_fetch_add(&contexts[device].references, 1, __ATOMIC_SEQ_CST);
    *context = &contexts[device];
    return SUCCESS;
}

#ifndef CUDA_10_0
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    ENTER("cuDevicePrimaryCtxRelease_v2", "%d", device);
    NEED_DEVICE(device);
    if (__atomic_fetch_sub(&contexts[device].references, 1, __ATOMIC_SEQ_CST) <= 0)
        return INVALID_CONTEXT;
    return SUCCESS;
}
#endif

// A context other than the primary one. gpuframe creates none; programs that use
// gorgonia.org/cu do.
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    ENTER("cuCtxCreate_v2", "%u, %d", flags, device);
    NEED_DEVICE(device);
    *context = calloc(1, sizeof **context);
    (*context)->device = device;
    (*context)->references = 1;
    current = *context;
    return SUCCESS;
}

// A destroyed context is kept, so that using it is refused.
CUresult cuCtxDestroy_v2(CUcontext context) {
    ENTER("cuCtxDestroy_v2", "%p", (void *)context);
    NEED_INIT;
    if (context == NULL || context->references == 0)
        return INVALID_CONTEXT;
    context->references = 0;
    if (current == context)
        current = NULL;
    return SUCCESS;
}

// Contexts are logged by their device.
static int number(CUcontext context) {
    return context == NULL ? -1 : context->device;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    NEED_INIT;
    *context = current;
    return SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    ENTER("cuCtxSetCurrent", "%d", number(context));
    NEED_INIT;
    current = context;
    return SUCCESS;
}

CUresult cuCtxSynchronize(void) {
    ENTER("cuCtxSynchronize", "");
    NEED_CONTEXT;
    if (captures > 0)
        return STREAM_CAPTURE_UNSUPPORTED;
    return SUCCESS;
}

// ---- memory

// find returns the block that contains an address, or NULL. The caller holds the mutex.
static struct block *find(const char *address) {
    for (int i = 0; i < MOST_BLOCKS; i++) {
        struct block *block = &blocks[i];
        if (block->memory != NONE && address >= block->start && address < block->start + block->bytes)
            return block;
    }
    return NULL;
}

static struct block *record(enum memory memory, char *start, size_t bytes, int device) {
    for (int i = 0; i < MOST_BLOCKS; i++) {
        if (blocks[i].memory == NONE) {
            blocks[i] = (struct block){.memory = memory, .start = start, .bytes = bytes, .device = device};
            return &blocks[i];
        }
    }
    return NULL;
}

// allocate implements cuMemAlloc and, with a pool, cuMemAllocFromPoolAsync.
static CUresult allocate(CUdeviceptr *pointer, size_t bytes, enum memory memory, CUmemoryPool pool) {
    if (bytes == 0)
        return INVALID_VALUE;
    pthread_mutex_lock(&mutex);
    CUresult result = OUT_OF_MEMORY;
    int device = current->device;
    if (bytes <= device_memory - used[device] &&
        (pool == NULL || pool->maximum == 0 || bytes <= pool->maximum - pool->attributes[7])) {
        char *start = aligned_alloc(512, (bytes + 511) / 512 * 512);
        struct block *block = start != NULL ? record(memory, start, bytes, device) : NULL;
        if (block != NULL) {
            used[device] += bytes;
            block->pool = pool;
            *pointer = (CUdeviceptr)(uintptr_t)start;
            result = SUCCESS;
        } else {
            free(start);
        }
    }
    if (result == SUCCESS && pool != NULL) {
        unsigned long long *a = pool->attributes;
        a[7] += bytes;
        while (a[5] < a[7])
            a[5] += pool_unit;
        a[8] = a[8] > a[7] ? a[8] : a[7];
        a[6] = a[6] > a[5] ? a[6] : a[5];
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

static CUresult release(char *start, int device_memory_too) {
    pthread_mutex_lock(&mutex);
    CUresult result = INVALID_VALUE;
    struct block *block = find(start);
    if (block != NULL && block->start == start && block->memory != REGISTERED && block->memory != MAPPED &&
        (block->memory == PINNED) == !device_memory_too) {
        if (block->memory != PINNED)
            used[block->device] -= block->bytes;
        if (block->pool != NULL)
            block->pool->attributes[7] -= block->bytes;
        block->memory = NONE;
        free(start);
        result = SUCCESS;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

static char *host(CUdeviceptr pointer) {
    return (char *)(uintptr_t)pointer;
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
    ENTER("cuMemGetInfo_v2", "");
    NEED_CONTEXT;
    *available = device_memory - used[current->device];
    *total = device_memory;
    return SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
    ENTER("cuMemAlloc_v2", "%zu", bytes);
    NEED_CONTEXT;
    NOT_WHILE_CAPTURING;
    return allocate(pointer, bytes, DEVICE, NULL);
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    ENTER("cuMemFree_v2", "%#llx", pointer);
    NEED_CONTEXT;
    NOT_WHILE_CAPTURING;
    return release(host(pointer), 1);
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
    ENTER("cuMemHostAlloc", "%zu, %u", bytes, flags);
    NEED_CONTEXT;
    NOT_WHILE_CAPTURING;
    if (bytes == 0 || bytes > device_memory)
        return bytes == 0 ? INVALID_VALUE : OUT_OF_MEMORY;
    *pointer = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    pthread_mutex_lock(&mutex);
    record(PINNED, *pointer, bytes, current->device);
    pthread_mutex_unlock(&mutex);
    return SUCCESS;
}

CUresult cuMemFreeHost(void *pointer) {
    ENTER("cuMemFreeHost", "%p", pointer);
    NEED_CONTEXT;
    NOT_WHILE_CAPTURING;
    return release(pointer, 0);
}

CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) {
    ENTER("cuMemHostRegister_v2", "%p, %zu, %u", pointer, bytes, flags);
    NEED_CONTEXT;
    pthread_mutex_lock(&mutex);
    CUresult result = HOST_MEMORY_ALREADY_REGISTERED;
    if (find(pointer) == NULL) {
        record(REGISTERED, pointer, bytes, current->device);
        result = SUCCESS;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

CUresult cuMemHostUnregister(void *pointer) {
    ENTER("cuMemHostUnregister", "%p", pointer);
    NEED_CONTEXT;
    pthread_mutex_lock(&mutex);
    struct block *block = find(pointer);
    CUresult result = HOST_MEMORY_NOT_REGISTERED;
    if (block != NULL && block->memory == REGISTERED && block->start == pointer) {
        block->memory = NONE;
        result = SUCCESS;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer) {
    ENTER("cuMemGetAddressRange_v2", "%#llx", pointer);
    NEED_CONTEXT;
    pthread_mutex_lock(&mutex);
    struct block *block = find(host(pointer));
    if (block != NULL) {
        *base = (CUdeviceptr)(uintptr_t)block->start;
        *bytes = block->bytes;
    }
    pthread_mutex_unlock(&mutex);
    return block != NULL ? SUCCESS : NOT_FOUND;
}

CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **values, CUdeviceptr pointer) {
    ENTER("cuPointerGetAttributes", "%u, %#llx", count, pointer);
    NEED_CONTEXT;
    pthread_mutex_lock(&mutex);
    struct block *block = find(host(pointer));
    for (unsigned i = 0; i < count; i++) {
        switch (attributes[i]) {
        case 2: // memory type
            *(unsigned *)values[i] = block == NULL ? 0 : block->memory == PINNED || block->memory == REGISTERED ? 1 : 2;
            break;
        case 8: // managed
            *(unsigned char *)values[i] = getenv("FAKE_MANAGED") != NULL || (block != NULL && block->memory == MANAGED);
            break;
        case 9: // device
            *(int *)values[i] = block == NULL ? -2 : block->device;
            break;
        }
    }
    pthread_mutex_unlock(&mutex);
    return SUCCESS;
}

// ---- copies and fills

// A copy fails instead of accessing memory outside the block in which it begins, or
// outside mappings that adjoin without a gap. The access is 1 for reading and 3 for
// writing.
static int within(CUdeviceptr pointer, size_t bytes, int access) {
    char *at = host(pointer), *end = at + bytes;
    pthread_mutex_lock(&mutex);
    struct block *block = find(at);
    while (block != NULL && block->memory == MAPPED && block->accessible >= access && end > block->start + block->bytes) {
        at = block->start + block->bytes;
        block = find(at);
        if (block != NULL && block->memory != MAPPED)
            block = NULL;
    }
    int fits = block != NULL && (block->memory != MAPPED || block->accessible >= access) &&
        (size_t)(end - at) <= (size_t)(block->start + block->bytes - at);
    pthread_mutex_unlock(&mutex);
    return fits;
}

// reaches reports whether a device can use a whole range: ordinary memory, or mapped
// memory with access in each mapping.
static int reaches(int device, CUdeviceptr pointer, size_t bytes) {
    char *at = host(pointer), *end = at + bytes;
    int all = 1;
    pthread_mutex_lock(&mutex);
    while (all && at < end) {
        struct block *block = find(at);
        if (block == NULL || block->memory != MAPPED)
            break;
        all = block->reach[device] == 3;
        at = block->start + block->bytes;
    }
    pthread_mutex_unlock(&mutex);
    return all;
}

static CUresult move(void *destination, const void *source, size_t bytes, CUdeviceptr first, CUdeviceptr second) {
    NEED_CONTEXT;
    if ((first != 0 && !within(first, bytes, 3)) || (second != 0 && !within(second, bytes, 1)))
        return INVALID_VALUE;
    memmove(destination, source, bytes);
    return SUCCESS;
}

// move_later is move on a stream.
static CUresult move_later(CUstream stream, void *destination, const void *source, size_t bytes, CUdeviceptr first, CUdeviceptr second) {
    if (capture_of(stream) == NULL)
        return move(destination, source, bytes, first, second);
    NEED_CONTEXT;
    return append(stream->capture, (struct work){.to = destination, .from = source, .bytes = bytes});
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void *source, size_t bytes) {
    ENTER("cuMemcpyHtoD_v2", "%zu", bytes);
    return move(host(destination), source, bytes, destination, 0);
}

CUresult cuMemcpyDtoH_v2(void *destination, CUdeviceptr source, size_t bytes) {
    ENTER("cuMemcpyDtoH_v2", "%zu", bytes);
    return move(destination, host(source), bytes, 0, source);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
    ENTER("cuMemcpyDtoD_v2", "%zu", bytes);
    return move(host(destination), host(source), bytes, destination, source);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void *source, size_t bytes, CUstream stream) {
    ENTER("cuMemcpyHtoDAsync_v2", "%zu, %p", bytes, (void *)stream);
    NEED_STREAM(stream);
    return move_later(stream, host(destination), source, bytes, destination, 0);
}

CUresult cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t bytes, CUstream stream) {
    ENTER("cuMemcpyDtoHAsync_v2", "%zu, %p", bytes, (void *)stream);
    NEED_STREAM(stream);
    return move_later(stream, destination, host(source), bytes, 0, source);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
    ENTER("cuMemcpyDtoDAsync_v2", "%zu, %p", bytes, (void *)stream);
    NEED_STREAM(stream);
    return move_later(stream, host(destination), host(source), bytes, destination, source);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext to, CUdeviceptr source, CUcontext from, size_t bytes, CUstream stream) {
    ENTER("cuMemcpyPeerAsync", "%d, %d, %zu, %p", number(to), number(from), bytes, (void *)stream);
    NEED_STREAM(stream);
    // Without access to all of the memory the driver copies through the host.
    if (to->peers[from->device] &&
        !(reaches(to->device, source, bytes) && reaches(from->device, destination, bytes)))
        entered("copy through the host", "%d, %d, %zu", number(to), number(from), bytes);
    return move(host(destination), host(source), bytes, destination, source);
}

static CUresult fill(CUdeviceptr destination, const void *value, size_t width, size_t count) {
    NEED_CONTEXT;
    if (!within(destination, width * count, 3))
        return INVALID_VALUE;
    if (width == 1)
        memset(host(destination), *(const unsigned char *)value, count);
    else
        for (size_t i = 0; i < count; i++)
            memcpy(host(destination) + i * width, value, width);
    return SUCCESS;
}

#define FILLS(name, async, type)                                                            \
    CUresult name(CUdeviceptr destination, type value, size_t count) {                      \
        ENTER(#name, "%#x, %zu", (unsigned)value, count);                                   \
        return fill(destination, &value, sizeof value, count);                              \
    }                                                                                       \
    CUresult async(CUdeviceptr destination, type value, size_t count, CUstream stream) {    \
        ENTER(#async, "%#x, %zu, %p", (unsigned)value, count, (void *)stream);              \
        NEED_STREAM(stream);                                                                \
        if (capture_of(stream) != NULL)                                                     \
            return append(stream->capture, (struct work){.to = host(destination), .value = value, .width = sizeof value, .count = count}); \
        return fill(destination, &value, sizeof value, count);                              \
    }

FILLS(cuMemsetD8_v2, cuMemsetD8Async, unsigned char)
FILLS(cuMemsetD16_v2, cuMemsetD16Async, unsigned short)
FILLS(cuMemsetD32_v2, cuMemsetD32Async, unsigned)

// ---- streams and events

static unsigned long long streams_made = 2; // after the default ones

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    ENTER("cuStreamCreate", "%u", flags);
    NEED_CONTEXT;
    *stream = make(STREAM);
    (*stream)->identity = __atomic_add_fetch(&streams_made, 1, __ATOMIC_SEQ_CST);
    (*stream)->blocking = (flags & 1) == 0;
    return SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
    ENTER("cuStreamDestroy_v2", "%p", (void *)stream);
    NEED_CONTEXT;
    NEED_HANDLE(stream, STREAM);
    unmake(stream);
    return SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
    ENTER("cuStreamSynchronize", "%p", (void *)stream);
    NEED_CONTEXT;
    NOT_WHILE_CAPTURING;
    NEED_STREAM(stream);
    NOT_CAPTURED(stream, STREAM_CAPTURE_UNSUPPORTED);
    return SUCCESS;
}

CUresult cuStreamQuery(CUstream stream) {
    ENTER("cuStreamQuery", "%p", (void *)stream);
    NEED_CONTEXT;
    NOT_WHILE_CAPTURING;
    NEED_STREAM(stream);
    NOT_CAPTURED(stream, STREAM_CAPTURE_UNSUPPORTED);
    return SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    ENTER("cuStreamWaitEvent", "%p, %p, %u", (void *)stream, (void *)event, flags);
    NEED_CONTEXT;
    NEED_STREAM(stream);
    NEED_HANDLE(event, EVENT);
    if (event->capture != capture_of(stream))
        NOT_CAPTURED(stream, STREAM_CAPTURE_ISOLATION);
    if (event->capture != NULL && !event->capture->over && (uintptr_t)stream > 2)
        stream->capture = event->capture; // it joins the capture
    return SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    ENTER("cuEventCreate", "%u", flags);
    NEED_CONTEXT;
    *event = make(EVENT);
    (*event)->timing = (flags & 2) == 0;
    return SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
    ENTER("cuEventDestroy_v2", "%p", (void *)event);
    NEED_CONTEXT;
    NEED_HANDLE(event, EVENT);
    unmake(event);
    return SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    ENTER("cuEventRecord", "%p, %p", (void *)event, (void *)stream);
    NEED_CONTEXT;
    NEED_HANDLE(event, EVENT);
    NEED_STREAM(stream);
    pthread_mutex_lock(&mutex);
    event->recorded = 1;
    event->capture = capture_of(stream);
    event->milliseconds = clock_milliseconds += 0.5f;
    pthread_mutex_unlock(&mutex);
    return SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
    ENTER("cuEventQuery", "%p", (void *)event);
    NEED_CONTEXT;
    NOT_WHILE_CAPTURING;
    NEED_HANDLE(event, EVENT);
    return event->capture != NULL ? CAPTURED_EVENT : SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
    ENTER("cuEventSynchronize", "%p", (void *)event);
    NEED_CONTEXT;
    NOT_WHILE_CAPTURING;
    NEED_HANDLE(event, EVENT);
    return event->capture != NULL ? CAPTURED_EVENT : SUCCESS;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    ENTER("cuEventElapsedTime", "%p, %p", (void *)start, (void *)end);
    NEED_CONTEXT;
    NEED_HANDLE(start, EVENT);
    NEED_HANDLE(end, EVENT);
    if (!start->timing || !end->timing || !start->recorded || !end->recorded)
        return INVALID_HANDLE;
    *milliseconds = end->milliseconds - start->milliseconds;
    return SUCCESS;
}

// ---- streams of others

#if !defined CUDA_11_0 && !defined CUDA_10_0

// The event marks the work of all streams. If any stream is captured, all captures are
// invalidated.
CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
    ENTER("cuCtxRecordEvent", "%d, %p", context == NULL ? -1 : context->device, (void *)event);
    NEED_INIT;
    if (context == NULL || context->references == 0)
        return INVALID_CONTEXT;
    NEED_HANDLE(event, EVENT);
    if (captures > 0) {
        lose_captures(1);
        return STREAM_CAPTURE_UNSUPPORTED;
    }
    event->recorded = 1;
    event->capture = NULL;
    return SUCCESS;
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *identity) {
    ENTER("cuStreamGetId", "%p", (void *)stream);
    NEED_CONTEXT;
    NEED_STREAM(stream);
    *identity = (uintptr_t)stream <= 2 ? (uintptr_t)stream : stream->identity;
    return SUCCESS;
}

#endif

#ifndef MINIMAL

CUresult cuStreamIsCapturing(CUstream stream, int *status) {
    ENTER("cuStreamIsCapturing", "%p", (void *)stream);
    NEED_CONTEXT;
    NEED_STREAM(stream);
    if ((uintptr_t)stream <= 1) {
        for (int i = 0; i < MOST_CAPTURES; i++) {
            if (begun[i] != NULL && begun[i]->blocking)
                return STREAM_CAPTURE_IMPLICIT;
        }
    }
    struct capture *capture = capture_of(stream);
    *status = capture == NULL ? 0 : capture->lost ? 2 : 1;
    return SUCCESS;
}

// Not logged, because it accompanies other calls.
CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
    NEED_INIT;
    if (*mode < 0 || *mode > 2)
        return INVALID_VALUE;
    int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return SUCCESS;
}

#endif

// ---- modules

// compile makes an object from PTX text. It expects the options that gpuframe passes:
// both logs with their sizes, and line information.
static CUresult compile(struct object **object, enum kind kind, const char *text, unsigned count, int *options, void **values) {
    char *errors = NULL, *notes = NULL;
    size_t error_bytes = 0, note_bytes = 0;
    for (unsigned i = 0; i < count; i++) {
        switch (options[i]) {
        case 13:
            if (values[i] != (void *)1)
                return INVALID_VALUE;
            break;
        case 3: notes = values[i]; break;
        case 4: note_bytes = (size_t)values[i]; values[i] = (void *)0; break;
        case 5: errors = values[i]; break;
        case 6: error_bytes = (size_t)values[i]; values[i] = (void *)0; break;
        default: return INVALID_VALUE;
        }
    }
    if (strstr(text, "no_such_instruction") != NULL) {
        snprintf(errors, error_bytes, "ptxas fake, line 10; error : Not a name of any known instruction: 'no_such_instruction'");
        snprintf(notes, note_bytes, "ptxas info : nothing compiled");
        return INVALID_PTX;
    }
    if (strstr(text, ".version") == NULL)
        return INVALID_PTX;
    *object = make(kind);
    (*object)->text = strdup(text);
    return SUCCESS;
}

// Here a cubin is the header of an ELF file and then the text.
enum { HEADER = 64 };

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options, void **values) {
    int binary = memcmp(image, "\177ELF", 4) == 0;
    ENTER("cuModuleLoadDataEx", "%.8s, %u", binary ? "cubin" : (const char *)image, count);
    NEED_CONTEXT;
    return compile(module, MODULE, (const char *)image + (binary ? HEADER : 0), count, options, values);
}

// The options of the logs are kept until the linker is destroyed, as the driver keeps
// them.
static __thread struct {
    unsigned count;
    int options[8];
    void *values[8];
} linking;

CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, CUlinkState *link) {
    ENTER("cuLinkCreate_v2", "%u", count);
    NEED_CONTEXT;
    if (count > 8)
        return INVALID_VALUE;
    linking.count = count;
    memcpy(linking.options, options, count * sizeof *options);
    memcpy(linking.values, values, count * sizeof *values);
    *link = make(LINK);
    return SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState link, int type, void *data, size_t bytes, const char *name, unsigned count, int *options, void **values) {
    ENTER("cuLinkAddData_v2", "%d, %.8s, %zu, %s, %u, %d", type, (const char *)data, bytes, name, count, options == NULL && values == NULL);
    NEED_CONTEXT;
    NEED_HANDLE(link, LINK);
    if (type != 1 || bytes == 0 || ((const char *)data)[bytes - 1] != 0)
        return INVALID_VALUE;
    struct object *compiled = NULL;
    CUresult result = compile(&compiled, LINK, data, linking.count, linking.options, linking.values);
    if (result != SUCCESS)
        return result;
    size_t length = strlen(compiled->text) + 1;
    link->text = calloc(1, HEADER + length);
    memcpy(link->text, "\177ELF\2\1", 6);
    memcpy(link->text + HEADER, compiled->text, length);
    link->maximum = HEADER + length;
    unmake(compiled);
    free(compiled);
    return SUCCESS;
}

CUresult cuLinkComplete(CUlinkState link, void **cubin, size_t *bytes) {
    ENTER("cuLinkComplete", "");
    NEED_CONTEXT;
    NEED_HANDLE(link, LINK);
    if (link->text == NULL)
        return INVALID_VALUE;
    *cubin = link->text;
    *bytes = link->maximum;
    return SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState link) {
    ENTER("cuLinkDestroy", "");
    NEED_CONTEXT;
    NEED_HANDLE(link, LINK);
    unmake(link);
    return SUCCESS;
}

// gpuframe does not call this one; gorgonia.org/cu does.
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult cuModuleUnload(CUmodule module) {
    ENTER("cuModuleUnload", "%p", (void *)module);
    NEED_CONTEXT;
    NEED_HANDLE(module, MODULE);
    unmake(module);
    return SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    ENTER("cuModuleGetFunction", "%p, %s", (void *)module, name);
    NEED_CONTEXT;
    NEED_HANDLE(module, MODULE);
    char entry[256];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    if (strstr(module->text, entry) == NULL)
        return NOT_FOUND;
    *function = make(FUNCTION);
    (*function)->text = strdup(name);
    return SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
    ENTER("cuFuncGetAttribute", "%d, %p", attribute, (void *)function);
    NEED_CONTEXT;
    NEED_HANDLE(function, FUNCTION);
    if (attribute < 0 || attribute > 9)
        return INVALID_VALUE;
    *value = attribute == 8 ? function->shared : 100 + attribute;
    return SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    ENTER("cuFuncSetAttribute", "%p, %d, %d", (void *)function, attribute, value);
    NEED_CONTEXT;
    NEED_HANDLE(function, FUNCTION);
    if (attribute != 8)
        return INVALID_VALUE;
    function->shared = value;
    return SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, CUfunction function, int threads, size_t shared) {
    ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor", "%p, %d, %zu", (void *)function, threads, shared);
    NEED_CONTEXT;
    NEED_HANDLE(function, FUNCTION);
    *count = 2048 / threads;
    return SUCCESS;
}

// The kernels that can be launched: add_scalar works, and so does add_wide, with
// numbers of 64 bits. Of every other kernel the first parameter is logged.
CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned shared, CUstream stream, void **parameters, void **extra) {
    ENTER("cuLaunchKernel", "%u %u %u, %u %u %u, %u, %p, %s", gridX, gridY, gridZ, blockX, blockY, blockZ, shared, (void *)stream,
          extra == NULL ? "no extra" : "extra");
    NEED_CONTEXT;
    NEED_HANDLE(function, FUNCTION);
    NEED_STREAM(stream);
    if ((unsigned long long)blockX * blockY * blockZ > 1024)
        return INVALID_VALUE;
    int wide = strcmp(function->text, "add_wide") == 0;
    if (!wide && strcmp(function->text, "add_scalar") != 0) {
        entered("first parameter", "%#llx", parameters == NULL ? 0 : *(unsigned long long *)parameters[0]);
        return SUCCESS;
    }
    unsigned *numbers = *(unsigned **)parameters[0];
    unsigned count = wide ? *(unsigned long long *)parameters[1] : *(unsigned *)parameters[1];
    unsigned scalar = wide ? *(unsigned long long *)parameters[2] : *(unsigned *)parameters[2];
    if (capture_of(stream) != NULL)
        return append(stream->capture, (struct work){.to = (char *)numbers, .value = scalar, .count = count < gridX * blockX ? count : gridX * blockX});
    for (unsigned i = 0; i < count && i < gridX * blockX; i++)
        numbers[i] += scalar;
    return SUCCESS;
}

// ---- graphs

#ifndef MINIMAL

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
    ENTER("cuStreamBeginCapture_v2", "%p, %d", (void *)stream, mode);
    NEED_CONTEXT;
    if ((uintptr_t)stream <= 2)
        return STREAM_CAPTURE_UNSUPPORTED;
    NEED_HANDLE(stream, STREAM);
    if (capture_of(stream) != NULL)
        return ILLEGAL_STATE;
    struct capture *capture = calloc(1, sizeof *capture);
    capture->origin = stream;
    capture->last = &capture->first;
    if (getenv("FAKE_GLOBAL_CAPTURES") != NULL)
        mode = 0;
    capture->mode = mode;
    capture->blocking = stream->blocking;
    stream->capture = capture;
    pthread_mutex_lock(&mutex);
    captures++;
    global_captures += mode == 0;
    for (int i = 0; i < MOST_CAPTURES; i++) {
        if (begun[i] == NULL) {
            begun[i] = capture;
            break;
        }
    }
    pthread_mutex_unlock(&mutex);
    return SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    ENTER("cuStreamEndCapture", "%p", (void *)stream);
    NEED_CONTEXT;
    NEED_HANDLE(stream, STREAM);
    struct capture *capture = capture_of(stream);
    if (capture == NULL || capture->origin != stream)
        return ILLEGAL_STATE;
    stream->capture = NULL;
    capture->over = 1;
    pthread_mutex_lock(&mutex);
    captures--;
    global_captures -= capture->mode == 0;
    for (int i = 0; i < MOST_CAPTURES; i++) {
        if (begun[i] == capture)
            begun[i] = NULL;
    }
    pthread_mutex_unlock(&mutex);
    *graph = NULL;
    if (capture->lost)
        return STREAM_CAPTURE_INVALIDATED;
    *graph = make(GRAPH);
    (*graph)->capture = capture;
    return SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
    ENTER("cuGraphDestroy", "%p", (void *)graph);
    NEED_CONTEXT;
    NEED_HANDLE(graph, GRAPH);
    unmake(graph);
    return SUCCESS;
}

#ifndef CUDA_11_0
CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long flags) {
    ENTER("cuGraphInstantiateWithFlags", "%p, %llu", (void *)graph, flags);
    NEED_CONTEXT;
    NEED_HANDLE(graph, GRAPH);
    *executable = make(EXECUTABLE);
    (*executable)->capture = graph->capture;
    return SUCCESS;
}
#endif

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
    ENTER("cuGraphLaunch", "%p, %p", (void *)executable, (void *)stream);
    NEED_CONTEXT;
    NEED_HANDLE(executable, EXECUTABLE);
    NEED_STREAM(stream);
    NOT_CAPTURED(stream, STREAM_CAPTURE_UNSUPPORTED); // the driver would nest them
    for (const struct work *work = executable->capture->first; work != NULL; work = work->next) {
        if (work->from != NULL)
            memmove(work->to, work->from, work->bytes);
        for (unsigned i = 0; i < work->count; i++) {
            if (work->width != 0)
                memcpy(work->to + i * work->width, &work->value, work->width);
            else
                ((unsigned *)work->to)[i] += work->value;
        }
    }
    return SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
    ENTER("cuGraphExecDestroy", "%p", (void *)executable);
    NEED_CONTEXT;
    NEED_HANDLE(executable, EXECUTABLE);
    unmake(executable);
    return SUCCESS;
}

#endif

// ---- peers

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    ENTER("cuDeviceCanAccessPeer", "%d, %d", device, peer);
    NEED_DEVICE(device);
    NEED_DEVICE(peer);
    *can = device != peer;
    return SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    ENTER("cuCtxEnablePeerAccess", "%d, %u", number(peer), flags);
    NEED_CONTEXT;
    if (current->peers[peer->device])
        return PEER_ACCESS_ALREADY_ENABLED;
    current->peers[peer->device] = 1;
    return SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    ENTER("cuCtxDisablePeerAccess", "%d", number(peer));
    NEED_CONTEXT;
    if (!current->peers[peer->device])
        return PEER_ACCESS_NOT_ENABLED;
    current->peers[peer->device] = 0;
    return SUCCESS;
}

struct location {
    int type, id;
};

struct access {
    struct location location;
    int flags;
};

#ifndef MINIMAL

// ---- managed memory

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags) {
    ENTER("cuMemAllocManaged", "%zu, %u", bytes, flags);
    NEED_CONTEXT;
    if (flags != 1)
        return INVALID_VALUE;
    return allocate(pointer, bytes, MANAGED, NULL);
}

CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice to, CUstream stream) {
    ENTER("cuMemPrefetchAsync", "%#llx, %zu, %d, %p", pointer, bytes, to, (void *)stream);
    NEED_CONTEXT;
    NEED_STREAM(stream);
    if (to != -1)
        NEED_DEVICE(to);
    pthread_mutex_lock(&mutex);
    struct block *block = find(host(pointer));
    int fits = block != NULL && block->memory == MANAGED && bytes <= (size_t)(block->start + block->bytes - host(pointer));
    pthread_mutex_unlock(&mutex);
    return fits ? SUCCESS : INVALID_VALUE;
}

// ---- mapped memory

enum { MOST_RANGES = 1024 };
static const size_t map_unit = (size_t)2 << 20;

static struct range {
    char *start;
    size_t bytes;
} ranges[MOST_RANGES];

// physicals are files, so that mappings of one are the same memory. A handle is the
// index plus a constant, so that the two cannot be confused.
static struct physical {
    int file, device;
    size_t bytes;
    int released, mappings;
    int shared, imported;
} physicals[MOST_RANGES];

static const unsigned long long handle_mark = 0x7000000000;

// give_back frees memory without a handle and without mappings.
static void give_back(struct physical *physical) {
    if (!physical->released || physical->mappings > 0)
        return;
    close(physical->file);
    if (!physical->imported)
        used[physical->device] -= physical->bytes;
    physical->bytes = 0;
}

static struct physical *physical_of(unsigned long long handle) {
    unsigned long long i = handle - handle_mark;
    return i < MOST_RANGES && physicals[i].bytes != 0 && !physicals[i].released ? &physicals[i] : NULL;
}

static int crooked(unsigned long long number) {
    return number % map_unit != 0;
}

static char *reserve(char *at, size_t bytes) {
    void *start = mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at != NULL ? MAP_FIXED : 0), -1, 0);
    return start != MAP_FAILED ? start : NULL;
}

CUresult cuMemAddressReserve(CUdeviceptr *pointer, size_t bytes, size_t alignment, CUdeviceptr wanted, unsigned long long flags) {
    ENTER("cuMemAddressReserve", "%zu, %zu, %#llx, %llu", bytes, alignment, wanted, flags);
    NEED_CONTEXT;
    if (bytes == 0 || crooked(bytes) || (alignment & (alignment - 1)) != 0 || flags != 0)
        return INVALID_VALUE;
    if (bytes > (size_t)1 << 46)
        return OUT_OF_MEMORY;
    alignment = alignment > map_unit ? alignment : map_unit;
    pthread_mutex_lock(&mutex);
    CUresult result = OUT_OF_MEMORY;
    for (int i = 0; i < MOST_RANGES; i++) {
        if (ranges[i].bytes != 0)
            continue;
        char *start = reserve(NULL, bytes + alignment);
        if (start == NULL)
            break;
        size_t before = -(uintptr_t)start & (alignment - 1);
        if (before != 0)
            munmap(start, before);
        munmap(start + before + bytes, alignment - before);
        ranges[i] = (struct range){start + before, bytes};
        *pointer = (CUdeviceptr)(uintptr_t)(start + before);
        result = SUCCESS;
        break;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

// overlapping returns a mapping that shares an address with a range.
static struct block *overlapping(const char *start, size_t bytes) {
    for (int i = 0; i < MOST_BLOCKS; i++) {
        struct block *block = &blocks[i];
        if (block->memory == MAPPED && start < block->start + block->bytes && block->start < start + bytes)
            return block;
    }
    return NULL;
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes) {
    ENTER("cuMemAddressFree", "%#llx, %zu", pointer, bytes);
    NEED_CONTEXT;
    pthread_mutex_lock(&mutex);
    CUresult result = INVALID_VALUE;
    for (int i = 0; i < MOST_RANGES; i++) {
        if (ranges[i].bytes == 0 || ranges[i].start != host(pointer) || ranges[i].bytes != bytes || overlapping(ranges[i].start, bytes))
            continue;
        munmap(ranges[i].start, bytes);
        ranges[i].bytes = 0;
        result = SUCCESS;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

struct properties {
    int type, handles;
    struct location location;
    void *metadata;
    unsigned char flags[8];
};

static int plain(const struct properties *p) {
    static const unsigned char zeros[8];
    return p->type == 1 && (p->handles == 0 || (p->handles == 1 && getenv("FAKE_NO_SHARING") == NULL)) && p->location.type == 1 && p->location.id == current->device && p->metadata == NULL &&
        memcmp(p->flags, zeros, sizeof zeros) == 0;
}

CUresult cuMemGetAllocationGranularity(size_t *bytes, const struct properties *p, int option) {
    ENTER("cuMemGetAllocationGranularity", "type %d, location %d %d, option %d", p->type, p->location.type, p->location.id, option);
    NEED_CONTEXT;
    if (!plain(p))
        return INVALID_VALUE;
    *bytes = option == 1 && getenv("FAKE_UNIT") != NULL ? strtoull(getenv("FAKE_UNIT"), NULL, 10) : map_unit;
    return SUCCESS;
}

CUresult cuMemCreate(unsigned long long *handle, size_t bytes, const struct properties *p, unsigned long long flags) {
    ENTER("cuMemCreate", "%zu, type %d, handles %d, location %d %d, metadata %p, flags %llu", bytes, p->type, p->handles, p->location.type,
          p->location.id, p->metadata, flags);
    NEED_CONTEXT;
    if (bytes == 0 || crooked(bytes) || !plain(p) || flags != 0)
        return INVALID_VALUE;
    int device = p->location.id;
    pthread_mutex_lock(&mutex);
    CUresult result = OUT_OF_MEMORY;
    for (int i = 0; i < MOST_RANGES && bytes <= device_memory - used[device]; i++) {
        if (physicals[i].bytes != 0)
            continue;
        int file = memfd_create("fakecuda", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, bytes) != 0)
            break;
        physicals[i] = (struct physical){.file = file, .device = device, .bytes = bytes, .shared = p->handles == 1};
        used[device] += bytes;
        *handle = handle_mark + i;
        result = SUCCESS;
        break;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

CUresult cuMemRelease(unsigned long long handle) {
    ENTER("cuMemRelease", "%#llx", handle);
    NEED_CONTEXT;
    pthread_mutex_lock(&mutex);
    struct physical *physical = physical_of(handle);
    if (physical != NULL) {
        physical->released = 1;
        give_back(physical);
    }
    pthread_mutex_unlock(&mutex);
    return physical != NULL ? SUCCESS : INVALID_VALUE;
}

static int within_a_range(const char *start, size_t bytes) {
    for (int i = 0; i < MOST_RANGES; i++) {
        if (ranges[i].bytes != 0 && start >= ranges[i].start && start + bytes <= ranges[i].start + ranges[i].bytes)
            return 1;
    }
    return 0;
}

// No driver so far accepts an offset other than zero.
CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags) {
    ENTER("cuMemMap", "%#llx, %zu, %zu, %#llx, %llu", pointer, bytes, offset, handle, flags);
    NEED_CONTEXT;
    if (bytes == 0 || crooked(pointer) || crooked(bytes) || offset != 0 || flags != 0)
        return INVALID_VALUE;
    char *at = host(pointer);
    pthread_mutex_lock(&mutex);
    CUresult result = INVALID_VALUE;
    struct physical *physical = physical_of(handle);
    if (physical != NULL && bytes <= physical->bytes && within_a_range(at, bytes) && overlapping(at, bytes) == NULL) {
        struct block *block = record(MAPPED, at, bytes, physical->device);
        if (block != NULL && mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->file, 0) != MAP_FAILED) {
            block->physical = (int)(physical - physicals);
            physical->mappings++;
            result = SUCCESS;
        }
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes) {
    ENTER("cuMemUnmap", "%#llx, %zu", pointer, bytes);
    NEED_CONTEXT;
    pthread_mutex_lock(&mutex);
    CUresult result = INVALID_VALUE;
    struct block *block = find(host(pointer));
    if (block != NULL && block->memory == MAPPED && block->start == host(pointer) && block->bytes == bytes) {
        reserve(block->start, bytes);
        block->memory = NONE;
        physicals[block->physical].mappings--;
        give_back(&physicals[block->physical]);
        result = SUCCESS;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const struct access *access, size_t count) {
    ENTER("cuMemSetAccess", "%#llx, %zu, location %d %d, flags %d, %zu", pointer, bytes, access->location.type, access->location.id,
          access->flags, count);
    NEED_CONTEXT;
    char *at = host(pointer), *end = at + bytes;
    pthread_mutex_lock(&mutex);
    while (at < end) {
        struct block *block = find(at);
        if (block == NULL || block->memory != MAPPED || block->start != at || block->bytes > (size_t)(end - at))
            break;
        at += block->bytes;
    }
    int covered = bytes != 0 && at == end && access->location.id >= 0 && access->location.id < device_count() && (access->flags == 3 || (access->flags == 1 && getenv("FAKE_NO_READING") == NULL));
    for (at = host(pointer); covered && at < end;) {
        struct block *block = find(at);
        block->reach[access->location.id] = access->flags;
        if (access->location.id == block->device || access->flags > block->accessible)
            block->accessible = access->flags;
        mprotect(block->start, block->bytes, access->flags == 3 ? PROT_READ | PROT_WRITE : PROT_READ);
        at += block->bytes;
    }
    pthread_mutex_unlock(&mutex);
    return covered ? SUCCESS : INVALID_VALUE;
}

// A descriptor refers to the file of the memory, so it is valid in any process.
CUresult cuMemExportToShareableHandle(void *descriptor, unsigned long long handle, int type, unsigned long long flags) {
    ENTER("cuMemExportToShareableHandle", "%#llx, type %d, flags %llu", handle, type, flags);
    NEED_CONTEXT;
    if (type != 1 || flags != 0)
        return INVALID_VALUE;
    pthread_mutex_lock(&mutex);
    struct physical *physical = physical_of(handle);
    int file = physical != NULL && physical->shared ? dup(physical->file) : -1;
    pthread_mutex_unlock(&mutex);
    if (file < 0)
        return INVALID_VALUE;
    *(int *)descriptor = file;
    return SUCCESS;
}

// The memory counts as the current device's.
CUresult cuMemImportFromShareableHandle(unsigned long long *handle, void *descriptor, int type) {
    ENTER("cuMemImportFromShareableHandle", "type %d", type);
    NEED_CONTEXT;
    char path[64], name[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", (int)(intptr_t)descriptor);
    ssize_t length = readlink(path, name, sizeof name - 1);
    if (type != 1 || length < 0)
        return INVALID_VALUE;
    name[length] = 0;
    if (strncmp(name, "/memfd:fakecuda", 15) != 0)
        return INVALID_VALUE;
    int file = fcntl((int)(intptr_t)descriptor, F_DUPFD_CLOEXEC, 3);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0)
        return INVALID_VALUE;
    pthread_mutex_lock(&mutex);
    CUresult result = OUT_OF_MEMORY;
    for (int i = 0; i < MOST_RANGES; i++) {
        if (physicals[i].bytes != 0)
            continue;
        physicals[i] = (struct physical){.file = file, .device = current->device, .bytes = status.st_size, .imported = 1};
        *handle = handle_mark + i;
        result = SUCCESS;
        break;
    }
    pthread_mutex_unlock(&mutex);
    if (result != SUCCESS)
        close(file);
    return result;
}

#endif

#if !defined CUDA_11_0 && !defined CUDA_10_0

CUresult cuDeviceGetUuid_v2(char *uuid, CUdevice device) {
    ENTER("cuDeviceGetUuid_v2", "%d", device);
    NEED_DEVICE(device);
    for (int i = 0; i < 16; i++)
        uuid[i] = (char)(0x10 * (device + 1) + i);
    return SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes) {
    ENTER("cuFuncGetParamInfo", "%p, %zu", (void *)function, index);
    NEED_CONTEXT;
    NEED_HANDLE(function, FUNCTION);
    static const size_t offsets[] = {0, 8, 12}, sizes[] = {8, 4, 4};
    if (strcmp(function->text, "add_scalar") != 0 || index >= 3)
        return INVALID_VALUE;
    *offset = offsets[index];
    *bytes = sizes[index];
    return SUCCESS;
}

// ---- pools

struct pool_properties {
    int type, handles;
    struct location location;
    void *security;
    size_t maximum;
    unsigned short usage;
    unsigned char reserved[54];
};

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    ENTER("cuDeviceGetDefaultMemPool", "%d", device);
    NEED_DEVICE(device);
    *pool = &default_pools[device];
    return SUCCESS;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
    NEED_CONTEXT;
    ENTER("cuMemAllocFromPoolAsync", "%zu, %s, %p", bytes, pool == &default_pools[current->device] ? "default" : "own", (void *)stream);
    NEED_HANDLE(pool, POOL);
    NEED_STREAM(stream);
    return allocate(pointer, bytes, POOLED, pool);
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
    ENTER("cuMemFreeAsync", "%#llx, %p", pointer, (void *)stream);
    NEED_CONTEXT;
    NEED_STREAM(stream);
    return release(host(pointer), 1);
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const struct pool_properties *p) {
    ENTER("cuMemPoolCreate", "type %d, handles %d, location %d %d, security %p, maximum %zu, usage %u", p->type, p->handles,
          p->location.type, p->location.id, p->security, p->maximum, p->usage);
    NEED_CONTEXT;
    for (size_t i = 0; i < sizeof p->reserved; i++) {
        if (p->reserved[i] != 0)
            return INVALID_VALUE;
    }
    *pool = make(POOL);
    (*pool)->device = p->location.id;
    (*pool)->maximum = p->maximum;
    return SUCCESS;
}

// Memory of a destroyed pool stays in use, so the pool keeps its counts.
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    ENTER("cuMemPoolDestroy", "%p", (void *)pool);
    NEED_CONTEXT;
    NEED_HANDLE(pool, POOL);
    unmake(pool);
    return SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
    ENTER("cuMemPoolTrimTo", "%zu", keep);
    NEED_CONTEXT;
    NEED_HANDLE(pool, POOL);
    unsigned long long *a = pool->attributes;
    while (a[5] >= pool_unit && a[5] - pool_unit >= keep && a[5] - pool_unit >= a[7])
        a[5] -= pool_unit;
    return SUCCESS;
}

// The first three attributes are an int, of which only the four bytes may be
// written.
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value) {
    ENTER("cuMemPoolGetAttribute", "%d", attribute);
    NEED_CONTEXT;
    NEED_HANDLE(pool, POOL);
    if (attribute < 1 || attribute >= POOL_ATTRIBUTES)
        return INVALID_VALUE;
    if (attribute <= 3)
        *(int *)value = (int)pool->attributes[attribute];
    else
        *(unsigned long long *)value = pool->attributes[attribute];
    return SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
    unsigned long long number = attribute <= 3 ? (unsigned long long)*(int *)value : *(unsigned long long *)value;
    ENTER("cuMemPoolSetAttribute", "%d, %llu", attribute, number);
    NEED_CONTEXT;
    NEED_HANDLE(pool, POOL);
    switch (attribute) {
    case 1: case 2: case 3: case 4:
        pool->attributes[attribute] = number;
        return SUCCESS;
    case 6: case 8: // the high-water marks, which can only be reset
        if (number != 0)
            return INVALID_VALUE;
        pool->attributes[attribute] = pool->attributes[attribute - 1];
        return SUCCESS;
    }
    return INVALID_VALUE;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const struct access *map, size_t count) {
    ENTER("cuMemPoolSetAccess", "pool of %d, location %d %d, flags %d, %zu", pool->device, map->location.type, map->location.id,
          map->flags, count);
    NEED_CONTEXT;
    NEED_HANDLE(pool, POOL);
    return SUCCESS;
}

#endif
