//go:build unix && !(386 || arm || mips || mipsle)

#include <pthread.h>

#include "../arrow_abi.h"
#include "consumer.h"

void consumer_release_array(void *array) {
	struct gpuframe_arrow_array *a = array;
	a->release(a);
}

void consumer_release_schema(void *schema) {
	struct gpuframe_arrow_schema *s = schema;
	s->release(s);
}

static void *array_thread(void *array) {
	consumer_release_array(array);
	return NULL;
}

static void *schema_thread(void *schema) {
	consumer_release_schema(schema);
	return NULL;
}

static int on_thread(void *(*run)(void *), void *argument) {
	pthread_t thread;
	int failed = pthread_create(&thread, NULL, run, argument);
	return failed != 0 ? failed : pthread_join(thread, NULL);
}

int consumer_release_array_on_thread(void *array) { return on_thread(array_thread, array); }

int consumer_release_schema_on_thread(void *schema) { return on_thread(schema_thread, schema); }
