// One function for each operation of NCCL, as Go calls it. Every function that returns int32_t
// returns an ncclResult_t, except nccl_load.
#ifndef GPUFRAME_NCCL_SHIMS_H
#define GPUFRAME_NCCL_SHIMS_H

#include <stddef.h>
#include <stdint.h>

enum { NCCL_LOADED, NCCL_NOT_OPENED, NCCL_SYMBOL_MISSING };

typedef struct {
    uint64_t pointer, bytes;
    int32_t rank, send;
} nccl_transfer;

// nccl_load resolves the functions. cuda is the path of the driver's library, which is used only
// if the process has it open. It writes the version, and dlopen's reason or the missing function.
int32_t nccl_load(const char *path, const char *cuda, int32_t *version, char *message, size_t size);
int32_t nccl_has_all_to_all(void);
const char *nccl_text(int32_t result);

int32_t nccl_unique_id(char *id);
// nccl_init joins a communicator with the GPU of an ordinal, or with the thread's if it is
// negative.
int32_t nccl_init(uintptr_t *comm, const char *id, int32_t ordinal, int32_t rank, int32_t size);
int32_t nccl_state(uintptr_t comm, int32_t *state);
int32_t nccl_exchange(uintptr_t comm, uintptr_t stream, const nccl_transfer *transfers, size_t count);
int32_t nccl_all_to_all(uintptr_t comm, uintptr_t stream, uint64_t from, uint64_t to, uint64_t bytes);
int32_t nccl_finalize(uintptr_t comm);
int32_t nccl_destroy(uintptr_t comm);
int32_t nccl_abort(uintptr_t comm);

#endif
