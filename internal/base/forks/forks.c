//go:build !(386 || arm || mips || mipsle)

#include <stddef.h>

#include "forks.h"

static volatile int forked;

#ifdef _WIN32

volatile int *gpuframe_watch_forks(void) { return &forked; }

#else

#include <pthread.h>

static void in_child(void) { forked = 1; }

volatile int *gpuframe_watch_forks(void) {
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static int watched;
	pthread_mutex_lock(&mutex);
	watched = watched || pthread_atfork(NULL, NULL, in_child) == 0;
	int result = watched;
	pthread_mutex_unlock(&mutex);
	return result ? &forked : NULL;
}

#endif
