#ifndef GPUFRAME_ARROW_FORK_H
#define GPUFRAME_ARROW_FORK_H

#include "arrow_abi.h"

/* Set in a child that was forked after the first export. Go's other threads do not
   exist there, so a call of Go could block without end. */
extern GPUFRAME_PRIVATE volatile int gpuframe_arrow_forked;

/* Make forks set gpuframe_arrow_forked. Further calls do nothing. Returns 0 if C has
   no memory. */
GPUFRAME_PRIVATE int gpuframe_arrow_watch_forks(void);

#endif
