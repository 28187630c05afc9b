// The functions of NVRTC, as Go calls them.
#ifndef GPUFRAME_NVRTC_SHIMS_H
#define GPUFRAME_NVRTC_SHIMS_H

#include <stddef.h>
#include <stdint.h>

enum { NVRTC_LOADED, NVRTC_NOT_OPENED, NVRTC_SYMBOL_MISSING };

// nvrtc_load resolves the functions. It writes dlopen's reason or the missing function.
int32_t nvrtc_load(const char *path, char *message, size_t size);
const char *nvrtc_text(int32_t result);
// nvrtc_compile compiles a program and returns NVRTC's result. The caller frees ptx and log, which are
// NULL if there is none.
int32_t nvrtc_compile(const char *source, const char *const *options, int32_t count, char **ptx, char **log);

#endif
