//go:build linux && (amd64 || arm64)

#include "shims.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The part of NVRTC's binary interface that is used, as nvrtc.h of CUDA 11.2 declares it. Later versions keep it.
typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;

enum { nvrtcSuccess = 0, nvrtcOutOfMemory = 1 };

#define NVRTC_SYMBOLS(ROW) \
    ROW(nvrtcResult, nvrtcCreateProgram, (nvrtcProgram * program, const char *source, const char *name, int headers, const char *const *texts, const char *const *names)) \
    ROW(nvrtcResult, nvrtcCompileProgram, (nvrtcProgram program, int count, const char *const *options)) \
    ROW(nvrtcResult, nvrtcDestroyProgram, (nvrtcProgram * program)) \
    ROW(nvrtcResult, nvrtcGetPTXSize, (nvrtcProgram program, size_t *size)) \
    ROW(nvrtcResult, nvrtcGetPTX, (nvrtcProgram program, char *ptx)) \
    ROW(nvrtcResult, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t *size)) \
    ROW(nvrtcResult, nvrtcGetProgramLog, (nvrtcProgram program, char *log)) \
    ROW(const char *, nvrtcGetErrorString, (nvrtcResult result))

#define NVRTC_MEMBER(type, name, parameters) type(*name) parameters;
static struct { NVRTC_SYMBOLS(NVRTC_MEMBER) } nvrtc;

#define NVRTC_ROW(type, name, parameters) {#name, offsetof(__typeof__(nvrtc), name)},
static const struct {
    const char *name;
    size_t offset;
} rows[] = {NVRTC_SYMBOLS(NVRTC_ROW)};

int32_t nvrtc_load(const char *path, char *message, size_t size) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(message, size, "%s", reason != NULL ? reason : "no reason given");
        return NVRTC_NOT_OPENED;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *symbol = dlsym(library, rows[i].name);
        if (symbol == NULL) {
            snprintf(message, size, "%s", rows[i].name);
            memset(&nvrtc, 0, sizeof nvrtc);
            dlclose(library);
            return NVRTC_SYMBOL_MISSING;
        }
        memcpy((char *)&nvrtc + rows[i].offset, &symbol, sizeof symbol);
    }
    return NVRTC_LOADED;
}

const char *nvrtc_text(int32_t result) { return nvrtc.nvrtcGetErrorString(result); }

static nvrtcResult read_text(nvrtcProgram program, nvrtcResult (*size)(nvrtcProgram, size_t *), nvrtcResult (*get)(nvrtcProgram, char *), char **text) {
    size_t length = 0;
    nvrtcResult result = size(program, &length);
    if (result != nvrtcSuccess || length == 0)
        return result;
    *text = calloc(length + 1, 1);
    return *text == NULL ? nvrtcOutOfMemory : get(program, *text);
}

int32_t nvrtc_compile(const char *source, const char *const *options, int32_t count, char **ptx, char **log) {
    nvrtcProgram program = NULL;
    *ptx = *log = NULL;
    nvrtcResult result = nvrtc.nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL);
    if (result != nvrtcSuccess)
        return result;
    result = nvrtc.nvrtcCompileProgram(program, count, options);
    nvrtcResult logged = read_text(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, log);
    if (result == nvrtcSuccess)
        result = logged;
    if (result == nvrtcSuccess)
        result = read_text(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, ptx);
    nvrtcResult destroyed = nvrtc.nvrtcDestroyProgram(&program);
    return result != nvrtcSuccess ? result : destroyed;
}
