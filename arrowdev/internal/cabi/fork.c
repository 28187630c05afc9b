//go:build !(386 || arm || mips || mipsle)

#include "fork.h"

volatile int gpuframe_arrow_forked;

#ifdef _WIN32

int gpuframe_arrow_watch_forks(void) { return 1; }

#else

#include <pthread.h>

static void in_child(void) { gpuframe_arrow_forked = 1; }

int gpuframe_arrow_watch_forks(void) {
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static int watched;
	pthread_mutex_lock(&mutex);
	watched = watched || pthread_atfork(NULL, NULL, in_child) == 0;
	int result = watched;
	pthread_mutex_unlock(&mutex);
	return result;
}

#endif
