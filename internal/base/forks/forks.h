#ifndef GPUFRAME_FORKS_H
#define GPUFRAME_FORKS_H

/* Make forks set a flag in their children, and return the address of the flag, or NULL if
   C has no memory. Further calls do no more than that. */
__attribute__((visibility("hidden"))) volatile int *gpuframe_watch_forks(void);

#endif
