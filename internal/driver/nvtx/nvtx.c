//go:build linux && (amd64 || arm64)

#include "nvtx.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* The protocol between a program and a profiler's library, as the public headers of NVTX 3
   (nvtxTypes.h) describe it. The library exports InitializeInjectionNvtx2 and is called
   with a function that returns tables. One of these returns, for each module, the
   addresses of variables that the library sets to its functions. */

typedef void (*function)(void);

enum { export_callbacks = 1, export_version = 3 };
enum { module_core2 = 5, modules = 7 };
enum { domain_range_start = 2, domain_range_end = 3, domain_create = 12 };

/* The number of functions of each module, with the unused first one. */
static const unsigned int counts[modules] = {0, 16, 9, 15, 7, 16, 7};

#define most 16

static function functions[modules][most];
static function *addresses[modules][most + 1];

static int module_functions(int module, function ***table, unsigned int *count) {
    if (module <= 0 || module >= modules) return 0;
    for (unsigned int i = 1; i < counts[module]; i++) addresses[module][i] = &functions[module][i];
    if (table) *table = addresses[module];
    if (count) *count = counts[module];
    return 1;
}

static struct {
    size_t size;
    int (*module_functions)(int, function ***, unsigned int *);
} callbacks = {sizeof callbacks, module_functions};

static void set_version(uint32_t version) { (void)version; }

static struct {
    size_t size;
    uint32_t version, reserved;
    void (*set_version)(uint32_t);
} versions = {sizeof versions, 3, 0, set_version};

static const void *export_table(uint32_t number) {
    switch (number) {
    case export_callbacks: return &callbacks;
    case export_version: return &versions;
    }
    return NULL;
}

/* nvtxEventAttributes_t */
struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const char *message;
};

static void *domain;
static uint64_t (*range_start)(void *, const struct attributes *);
static void (*range_end)(void *, uint64_t);

int gpuframe_nvtx_attach(const char *path) {
    void *library = dlopen(path, RTLD_LAZY);
    if (!library) return 0;
    int (*initialize)(const void *(*)(uint32_t)) = (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2");
    if (!initialize || !initialize(export_table)) {
        dlclose(library);
        return 0;
    }
    /* The library stays loaded: it has threads and handlers. */
    function *core2 = functions[module_core2];
    range_start = (uint64_t (*)(void *, const struct attributes *))core2[domain_range_start];
    range_end = (void (*)(void *, uint64_t))core2[domain_range_end];
    void *(*create)(const char *) = (void *(*)(const char *))core2[domain_create];
    if (!range_start || !range_end) return 0;
    if (create) domain = create("gpuframe");
    return 1;
}

uint64_t gpuframe_nvtx_start(const char *name) {
    struct attributes a;
    memset(&a, 0, sizeof a);
    a.version = 3;
    a.size = sizeof a;
    a.message_type = 1; /* bytes, UTF-8 */
    a.message = name;
    return range_start(domain, &a);
}

void gpuframe_nvtx_end(uint64_t range) { range_end(domain, range); }
