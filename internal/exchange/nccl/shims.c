//go:build linux && (amd64 || arm64)

#include "shims.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

// The part of NCCL's binary interface that is used, as nccl.h of 2.14 declares it. Later versions
// keep it: they read config.size and config.version and take defaults for newer fields.
typedef int ncclResult_t;
typedef struct ncclComm *ncclComm_t;
typedef struct {
    char internal[128];
} ncclUniqueId;

typedef struct {
    size_t size;
    unsigned magic, version;
    int blocking;
} ncclConfig_t;

_Static_assert(sizeof(ncclUniqueId) == 128, "ncclUniqueId");
_Static_assert(sizeof(ncclConfig_t) == 24, "ncclConfig_t");

enum { ncclSuccess = 0, ncclSystemError = 2, ncclInvalidUsage = 5, ncclInProgress = 7 };
enum { ncclInt8 = 0 };

#define NCCL_SYMBOLS(REQUIRED, OPTIONAL) \
    REQUIRED(ncclGetVersion, (int *version)) \
    REQUIRED(ncclGetUniqueId, (ncclUniqueId *id)) \
    REQUIRED(ncclCommInitRankConfig, (ncclComm_t *comm, int size, ncclUniqueId id, int rank, ncclConfig_t *config)) \
    REQUIRED(ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t *state)) \
    REQUIRED(ncclCommFinalize, (ncclComm_t comm)) \
    REQUIRED(ncclCommDestroy, (ncclComm_t comm)) \
    REQUIRED(ncclCommAbort, (ncclComm_t comm)) \
    REQUIRED(ncclGroupStart, (void)) \
    REQUIRED(ncclGroupEnd, (void)) \
    REQUIRED(ncclSend, (const void *from, size_t count, int type, int rank, ncclComm_t comm, void *stream)) \
    REQUIRED(ncclRecv, (void *to, size_t count, int type, int rank, ncclComm_t comm, void *stream)) \
    OPTIONAL(ncclAlltoAll, (const void *from, void *to, size_t count, int type, ncclComm_t comm, void *stream))

#define NCCL_MEMBER(name, parameters) ncclResult_t(*name) parameters;
static struct {
    NCCL_SYMBOLS(NCCL_MEMBER, NCCL_MEMBER)
    const char *(*ncclGetErrorString)(ncclResult_t);
} nccl;

#define NCCL_REQUIRED_ROW(name, parameters) {#name, offsetof(__typeof__(nccl), name), 1},
#define NCCL_OPTIONAL_ROW(name, parameters) {#name, offsetof(__typeof__(nccl), name), 0},
static const struct {
    const char *name;
    size_t offset;
    int required;
} rows[] = {NCCL_SYMBOLS(NCCL_REQUIRED_ROW, NCCL_OPTIONAL_ROW){"ncclGetErrorString", offsetof(__typeof__(nccl), ncclGetErrorString), 1}};

// The driver's functions that make a GPU's primary context current, which device/cuda retains.
static struct {
    int (*cuDeviceGet)(int *device, int ordinal);
    int (*cuDevicePrimaryCtxRetain)(void **context, int device);
    int (*cuDevicePrimaryCtxRelease_v2)(int device);
    int (*cuCtxGetCurrent)(void **context);
    int (*cuCtxSetCurrent)(void *context);
} cuda;

static void resolve_cuda(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library == NULL)
        return;
    static const char *const names[] = {"cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuCtxGetCurrent", "cuCtxSetCurrent"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *symbol = dlsym(library, names[i]);
        if (symbol == NULL) {
            memset(&cuda, 0, sizeof cuda);
            return;
        }
        memcpy((char *)&cuda + i * sizeof symbol, &symbol, sizeof symbol);
    }
}

int32_t nccl_load(const char *path, const char *driver, int32_t *version, char *message, size_t size) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(message, size, "%s", reason != NULL ? reason : "no reason given");
        return NCCL_NOT_OPENED;
    }
    ncclResult_t (*get_version)(int *) = (ncclResult_t(*)(int *))dlsym(library, "ncclGetVersion");
    if (get_version != NULL) {
        int found = 0;
        if (get_version(&found) == ncclSuccess)
            *version = found;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *symbol = dlsym(library, rows[i].name);
        if (symbol == NULL && rows[i].required) {
            snprintf(message, size, "%s", rows[i].name);
            memset(&nccl, 0, sizeof nccl);
            dlclose(library);
            return NCCL_SYMBOL_MISSING;
        }
        memcpy((char *)&nccl + rows[i].offset, &symbol, sizeof symbol);
    }
    resolve_cuda(driver);
    // The library stays open: it has threads.
    return NCCL_LOADED;
}

int32_t nccl_has_all_to_all(void) { return nccl.ncclAlltoAll != NULL; }

const char *nccl_text(int32_t result) { return nccl.ncclGetErrorString(result); }

int32_t nccl_unique_id(char *id) {
    ncclUniqueId made;
    ncclResult_t result = nccl.ncclGetUniqueId(&made);
    memcpy(id, &made, sizeof made);
    return result;
}

static ncclResult_t join(uintptr_t *comm, const char *id, int32_t rank, int32_t size) {
    ncclUniqueId by_value;
    memcpy(&by_value, id, sizeof by_value);
    ncclConfig_t config = {.size = sizeof config, .magic = 0xcafebeef, .version = 21400, .blocking = 0};
    ncclComm_t made = NULL;
    ncclResult_t result = nccl.ncclCommInitRankConfig(&made, size, by_value, rank, &config);
    *comm = (uintptr_t)made;
    return result;
}

int32_t nccl_init(uintptr_t *comm, const char *id, int32_t ordinal, int32_t rank, int32_t size) {
    if (ordinal < 0)
        return join(comm, id, rank, size);
    // NCCL takes the GPU of the thread's current context. The thread keeps its former one.
    if (cuda.cuCtxSetCurrent == NULL)
        return ncclInvalidUsage;
    int device;
    void *former, *context;
    if (cuda.cuDeviceGet(&device, ordinal) != 0 || cuda.cuCtxGetCurrent(&former) != 0 || cuda.cuDevicePrimaryCtxRetain(&context, device) != 0)
        return ncclSystemError;
    ncclResult_t result = ncclSystemError;
    if (cuda.cuCtxSetCurrent(context) == 0)
        result = join(comm, id, rank, size);
    (void)cuda.cuCtxSetCurrent(former);
    // device/cuda keeps the context.
    (void)cuda.cuDevicePrimaryCtxRelease_v2(device);
    return result;
}

int32_t nccl_state(uintptr_t comm, int32_t *state) {
    ncclResult_t found = ncclSuccess;
    ncclResult_t result = nccl.ncclCommGetAsyncError((ncclComm_t)comm, &found);
    *state = found;
    return result;
}

static int failed(ncclResult_t result) { return result != ncclSuccess && result != ncclInProgress; }

int32_t nccl_exchange(uintptr_t comm, uintptr_t stream, const nccl_transfer *transfers, size_t count) {
    ncclResult_t result = nccl.ncclGroupStart();
    if (failed(result))
        return result;
    for (size_t i = 0; i < count && !failed(result); i++) {
        const nccl_transfer *t = &transfers[i];
        if (t->send)
            result = nccl.ncclSend((const void *)t->pointer, t->bytes, ncclInt8, t->rank, (ncclComm_t)comm, (void *)stream);
        else
            result = nccl.ncclRecv((void *)t->pointer, t->bytes, ncclInt8, t->rank, (ncclComm_t)comm, (void *)stream);
    }
    ncclResult_t ended = nccl.ncclGroupEnd();
    return failed(result) ? result : ended;
}

int32_t nccl_all_to_all(uintptr_t comm, uintptr_t stream, uint64_t from, uint64_t to, uint64_t bytes) {
    if (nccl.ncclAlltoAll == NULL)
        return ncclInvalidUsage;
    return nccl.ncclAlltoAll((const void *)from, (void *)to, bytes, ncclInt8, (ncclComm_t)comm, (void *)stream);
}

int32_t nccl_finalize(uintptr_t comm) { return nccl.ncclCommFinalize((ncclComm_t)comm); }

int32_t nccl_destroy(uintptr_t comm) { return nccl.ncclCommDestroy((ncclComm_t)comm); }

int32_t nccl_abort(uintptr_t comm) { return nccl.ncclCommAbort((ncclComm_t)comm); }
