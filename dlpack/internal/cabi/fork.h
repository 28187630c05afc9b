#ifndef GPUFRAME_DLPACK_FORK_H
#define GPUFRAME_DLPACK_FORK_H

#include "dlpack_abi.h"

/* Set in a child that was forked after the first export. Go's other threads do not exist
   there, so a call of Go could deadlock. */
extern GPUFRAME_PRIVATE volatile int gpuframe_dl_forked;

/* Register a handler that sets gpuframe_dl_forked in forked children. Further calls do
   nothing. Returns 0 if memory is exhausted. */
GPUFRAME_PRIVATE int gpuframe_dl_watch_forks(void);

#endif
