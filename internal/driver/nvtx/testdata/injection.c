/* A profiler's library for tests, written for the protocol of NVTX 3 and without its headers.
   It appends a line for each call to the file that GPUFRAME_NVTX_LOG names. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*function)(void);
struct callbacks { size_t size; int (*functions)(int module, function ***table, unsigned int *count); };
struct event { uint16_t version, size; uint32_t category; int32_t color_type; uint32_t color; int32_t payload_type, reserved; uint64_t payload; int32_t message_type; const char *message; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;
static uint64_t last;

static void *create(const char *name) {
    fprintf(out, "domain %s\n", name);
    fflush(out);
    return &out;
}

static uint64_t start(void *domain, const struct event *e) {
    pthread_mutex_lock(&lock);
    uint64_t id = ++last;
    fprintf(out, "start %llu %s%s\n", (unsigned long long)id, e->message,
            domain == &out && e->version == 3 && e->size == 48 && e->message_type == 1 ? "" : " WRONG");
    fflush(out);
    pthread_mutex_unlock(&lock);
    return id;
}

static void end(void *domain, uint64_t id) {
    pthread_mutex_lock(&lock);
    fprintf(out, "end %llu%s\n", (unsigned long long)id, domain == &out ? "" : " WRONG");
    fflush(out);
    pthread_mutex_unlock(&lock);
}

int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t)) {
    const char *mode = getenv("GPUFRAME_NVTX_MODE");
    if (mode && !strcmp(mode, "refuse")) return 0;
    const char *path = getenv("GPUFRAME_NVTX_LOG");
    out = path ? fopen(path, "w") : NULL;
    const struct callbacks *c = export_table(1);
    if (!out || !c || c->size < sizeof *c || export_table(99)) return 0;
    if (mode && !strcmp(mode, "nothing")) return 1;
    /* Modules that a profiler asks for although it needs none of their functions. */
    for (int module = 1; module <= 6; module++) {
        function **table = NULL;
        unsigned int count = 0;
        if (!c->functions(module, &table, &count) || !table || count < 7) return 0;
        for (unsigned int i = 1; i < count; i++)
            if (!table[i]) return 0;
        if (table[count]) return 0;
    }
    if (c->functions(7, NULL, NULL)) return 0;
    function **core2 = NULL;
    unsigned int count = 0;
    c->functions(5, &core2, &count);
    if (count != 16) return 0;
    *core2[2] = (function)start;
    *core2[3] = (function)end;
    *core2[12] = (function)create;
    return 1;
}
