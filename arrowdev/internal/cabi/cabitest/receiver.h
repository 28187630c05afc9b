#ifndef GPUFRAME_CABITEST_RECEIVER_H
#define GPUFRAME_CABITEST_RECEIVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "../arrow_abi.h"

/* A consumer that keeps the tasks for the test to extract. */
struct receiver {
	struct gpuframe_arrow_async_handler handler; /* first */
	/* Its actions inside the callbacks. */
	int64_t request_first, request_each, cancel_at;
	int refuse_schema, refuse_task, keep_schema;
	int64_t refuse_at;

	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct gpuframe_arrow_async_task *tasks;
	int64_t count, taken, requested;
	struct gpuframe_arrow_async_producer *producer; /* kept past the release */
	int schemas, ends, errors, code, released, violations, cancelled;
	int64_t after_cancel;
	char message[256];
	_Atomic int inside;
};

struct receiver_counts {
	int64_t tasks, requested, after_cancel;
	int schemas, ends, errors, code, released, violations;
	char message[256];
};

struct receiver *receiver_new(void);
int receiver_request(struct receiver *r, int64_t n, int on_thread);
int receiver_cancel(struct receiver *r, int on_thread);
/* Extract the next task, or drop it if out is NULL. -1: no task is left. */
int receiver_extract(struct receiver *r, void *out, int on_thread);
int receiver_extract_again(struct receiver *r, void *out);
/* Wait for the given number of tasks, or for the release. */
void receiver_wait(struct receiver *r, int64_t tasks);
void receiver_wait_end(struct receiver *r);
void receiver_count(struct receiver *r, struct receiver_counts *counts);
void receiver_free(struct receiver *r);

#endif
