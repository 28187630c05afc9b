#ifndef GPUFRAME_NVTX_H
#define GPUFRAME_NVTX_H

#include <stdint.h>

/* gpuframe_nvtx_attach loads a profiler's library and lets it set the functions that it
   provides. It returns 0 if that fails. It is called once. */
int gpuframe_nvtx_attach(const char *path);

/* gpuframe_nvtx_start begins a range of the process. The name is not kept. */
uint64_t gpuframe_nvtx_start(const char *name);

void gpuframe_nvtx_end(uint64_t range);

#endif
