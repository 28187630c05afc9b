// A library in place of libcuda.so.1 that passes every call on and records the time of
// kernels, copies and fills on the device, and of waits on the host.
//
//   gcc -O2 -shared -fPIC -Wl,--no-as-needed -o libdriverprofile.so driver_profile.c libcuda.so.1 -ldl -lpthread
//   GPUFRAME_LIBCUDA=$PWD/libdriverprofile.so ./dbbenchmark -profile
//
// It records while the environment variable GPUFRAME_PROFILE_MARK is set and not empty, and
// prints what it has recorded to the standard error with the first call after the mark has
// changed. Symbols that are not defined here are found in libcuda.so.1, which this library
// is linked to. Events around an operation add about 2 µs to its time.
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int CUresult;
typedef void *CUstream, *CUevent, *CUfunction, *CUmodule;
typedef unsigned long long CUdeviceptr;

enum { MOST_RECORDS = 20000, MOST_FUNCTIONS = 20000 };

struct record {
    const char *name;
    double host_begin, host_end;
    int on_device;
    CUevent begin, end;
    unsigned long long size;
    unsigned grid, block, shared;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct record records[MOST_RECORDS];
static int count, events_made;
static CUevent events[2 * MOST_RECORDS];
static char mark[128];
static struct {
    CUfunction function;
    char *name;
} functions[MOST_FUNCTIONS];
static int function_count;

static void *real(const char *name) {
    static void *library;
    if (library == NULL) {
        library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library == NULL && getenv("GPUFRAME_PROFILE_LIBCUDA") != NULL)
            library = dlopen(getenv("GPUFRAME_PROFILE_LIBCUDA"), RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            fprintf(stderr, "driver_profile: %s\n", dlerror());
            abort();
        }
    }
    return dlsym(library, name);
}

#define REAL(name, parameters) \
    static CUresult (*function) parameters; \
    if (function == NULL) function = (CUresult(*) parameters)real(name)

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}


// least_host is the shortest call without a time on the device that is listed, in milliseconds.
static const double least_host = 0.02;

// print_calls writes the number of calls of each name without a time on the device.
static void print_calls(void) {
    for (int i = 0; i < count; i++) {
        double took = 0;
        int calls = 0, before = 0;
        if (records[i].on_device) continue;
        for (int j = 0; j < count; j++)
            if (!records[j].on_device && strcmp(records[j].name, records[i].name) == 0) {
                before += j < i;
                calls++;
                took += records[j].host_end - records[j].host_begin;
            }
        if (before == 0) fprintf(stderr, "   %4d %s, %.3f ms on the host\n", calls, records[i].name, took);
    }
}

// print writes the records of the mark and forgets them.
static void print(void) {
    CUresult (*elapsed)(float *, CUevent, CUevent) = (CUresult(*)(float *, CUevent, CUevent))real("cuEventElapsedTime");
    CUresult (*synchronize)(CUevent) = (CUresult(*)(CUevent))real("cuEventSynchronize");
    CUevent first = NULL;
    double total = 0;
    fprintf(stderr, "== %s: %d calls\n   host at  host took  device at  device took  operation\n", mark, count);
    for (int i = 0; i < count; i++) {
        struct record *r = &records[i];
        float at = 0, took = 0;
        if (r->on_device) {
            if (first == NULL) first = r->begin;
            synchronize(r->end);
            elapsed(&at, first, r->begin);
            elapsed(&took, r->begin, r->end);
            total += took;
            fprintf(stderr, "%10.3f %10.3f %10.3f %12.3f  %s", r->host_begin - records[0].host_begin, r->host_end - r->host_begin, at, took, r->name);
            if (r->grid != 0) fprintf(stderr, " <%u, %u, %u>\n", r->grid, r->block, r->shared);
            else fprintf(stderr, " %llu B\n", r->size);
        } else if (r->host_end - r->host_begin >= least_host) {
            fprintf(stderr, "%10.3f %10.3f %10s %12s  %s\n", r->host_begin - records[0].host_begin, r->host_end - r->host_begin, "", "", r->name);
        }
    }
    print_calls();
    if (count > 0) fprintf(stderr, "== %s: %.3f ms on the device, %.3f ms on the host\n", mark, total, records[count - 1].host_end - records[0].host_begin);
    count = 0;
}

// begin reads the mark and returns a record for a call, or NULL if none is to be made. The
// lock is held if and only if a record is returned.
static struct record *begin(const char *name, int on_device, CUstream stream) {
    const char *to = getenv("GPUFRAME_PROFILE_MARK");
    if (to == NULL) to = "";
    pthread_mutex_lock(&lock);
    if (strcmp(to, mark) != 0) {
        if (mark[0] != 0) print();
        snprintf(mark, sizeof mark, "%s", to);
    }
    // A process that is killed has shown what it did before.
    if (count > 0 && now() - records[0].host_begin > 5000) print();
    if (mark[0] == 0 || count == MOST_RECORDS) {
        pthread_mutex_unlock(&lock);
        return NULL;
    }
    struct record *r = &records[count];
    memset(r, 0, sizeof *r);
    if (on_device) {
        REAL("cuEventCreate", (CUevent *, unsigned));
        for (; events_made < 2 * count + 2; events_made++) function(&events[events_made], 0);
        r->begin = events[2 * count], r->end = events[2 * count + 1];
    }
    count++;
    r->name = name, r->on_device = on_device;
    r->host_begin = now();
    if (on_device) {
        REAL("cuEventRecord", (CUevent, CUstream));
        function(r->begin, stream);
    }
    return r;
}

static void end(struct record *r, CUstream stream) {
    if (r == NULL) return;
    if (r->on_device) {
        REAL("cuEventRecord", (CUevent, CUstream));
        function(r->end, stream);
    }
    r->host_end = now();
    pthread_mutex_unlock(&lock);
}

CUresult cuModuleGetFunction(CUfunction *to, CUmodule module, const char *name) {
    REAL("cuModuleGetFunction", (CUfunction *, CUmodule, const char *));
    CUresult result = function(to, module, name);
    if (result == 0) {
        pthread_mutex_lock(&lock);
        if (function_count < MOST_FUNCTIONS) {
            functions[function_count].function = *to;
            functions[function_count++].name = strdup(name);
        }
        pthread_mutex_unlock(&lock);
    }
    return result;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream,
                        void **parameters, void **extra) {
    REAL("cuLaunchKernel", (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **));
    struct record *r = begin("kernel", 1, stream);
    if (r != NULL) {
        // The last function of a handle is the valid one: handles are used again.
        for (int i = function_count - 1; i >= 0; i--)
            if (functions[i].function == f) {
                r->name = functions[i].name;
                break;
            }
        r->grid = gx * gy * gz, r->block = bx * by * bz, r->shared = shared;
    }
    CUresult result = function(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
    end(r, stream);
    return result;
}

#define ON_STREAM(symbol, parameters, arguments, bytes) \
    CUresult symbol parameters { \
        REAL(#symbol, parameters); \
        struct record *r = begin(#symbol, 1, stream); \
        if (r != NULL) r->size = bytes; \
        CUresult result = function arguments; \
        end(r, stream); \
        return result; \
    }
ON_STREAM(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t n, CUstream stream), (to, from, n, stream), n)
ON_STREAM(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t n, CUstream stream), (to, from, n, stream), n)
ON_STREAM(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream stream), (to, from, n, stream), n)
ON_STREAM(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t n, CUstream stream), (to, value, n, stream), n)
ON_STREAM(cuMemsetD16Async, (CUdeviceptr to, unsigned short value, size_t n, CUstream stream), (to, value, n, stream), 2 * n)
ON_STREAM(cuMemsetD32Async, (CUdeviceptr to, unsigned value, size_t n, CUstream stream), (to, value, n, stream), 4 * n)

// Calls without a time on the device hold no lock while they run, because they may wait.
#define ON_HOST(symbol, parameters, arguments) \
    CUresult symbol parameters { \
        REAL(#symbol, parameters); \
        struct record *r = begin(#symbol, 0, NULL); \
        if (r != NULL) { \
            r->host_end = r->host_begin; \
            pthread_mutex_unlock(&lock); \
        } \
        CUresult result = function arguments; \
        if (r != NULL) r->host_end = now(); \
        return result; \
    }
ON_HOST(cuStreamSynchronize, (CUstream stream), (stream))
ON_HOST(cuEventSynchronize, (CUevent event), (event))
ON_HOST(cuCtxSynchronize, (void), ())
ON_HOST(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t n), (to, from, n))
ON_HOST(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t n), (to, from, n))
ON_HOST(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t n), (to, from, n))
ON_HOST(cuMemAlloc_v2, (CUdeviceptr *to, size_t n), (to, n))
ON_HOST(cuMemFree_v2, (CUdeviceptr from), (from))
ON_HOST(cuMemAllocFromPoolAsync, (CUdeviceptr *to, size_t n, void *pool, CUstream stream), (to, n, pool, stream))
ON_HOST(cuMemFreeAsync, (CUdeviceptr from, CUstream stream), (from, stream))
ON_HOST(cuMemHostAlloc, (void **to, size_t n, unsigned flags), (to, n, flags))
ON_HOST(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags), (stream, event, flags))
ON_HOST(cuEventRecord, (CUevent event, CUstream stream), (event, stream))
ON_HOST(cuEventQuery, (CUevent event), (event))
ON_HOST(cuStreamQuery, (CUstream stream), (stream))
ON_HOST(cuEventCreate, (CUevent *event, unsigned flags), (event, flags))
ON_HOST(cuModuleLoadDataEx, (CUmodule *to, const void *image, unsigned n, int *options, void **values), (to, image, n, options, values))
