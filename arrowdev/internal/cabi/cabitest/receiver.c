//go:build unix && !(386 || arm || mips || mipsle)

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "receiver.h"

/* Checks that callbacks are serial, and that none follows the release. */
static struct receiver *enter(struct gpuframe_arrow_async_handler *self) {
	struct receiver *r = (struct receiver *)self;
	int others = atomic_fetch_add(&r->inside, 1);
	pthread_mutex_lock(&r->mutex);
	if (others != 0 || r->released > 0 || self->producer == NULL) {
		r->violations++;
	}
	return r;
}

static void leave(struct receiver *r) {
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->mutex);
	atomic_fetch_sub(&r->inside, 1);
}

static void request(struct receiver *r, int64_t n) {
	r->requested += n > 0 ? n : 0;
	pthread_mutex_unlock(&r->mutex);
	r->producer->request(r->producer, n);
	pthread_mutex_lock(&r->mutex);
}

static int on_schema(struct gpuframe_arrow_async_handler *self, struct gpuframe_arrow_schema *schema) {
	struct receiver *r = enter(self);
	r->producer = self->producer;
	r->violations += r->schemas++ > 0 || schema->release == NULL;
	if (!r->keep_schema) {
		schema->release(schema);
	}
	if (r->request_first != 0) {
		request(r, r->request_first);
	}
	int code = r->refuse_schema;
	leave(r);
	return code;
}

static int on_next_task(struct gpuframe_arrow_async_handler *self, struct gpuframe_arrow_async_task *task, const char *metadata) {
	struct receiver *r = enter(self);
	(void)metadata;
	int code = 0;
	r->violations += r->schemas != 1 || r->ends > 0 || r->errors > 0;
	if (task == NULL) {
		r->ends++;
	} else if (r->refuse_task != 0 && r->count == r->refuse_at) {
		code = r->refuse_task;
	} else {
		r->tasks = realloc(r->tasks, (size_t)(r->count + 1) * sizeof *r->tasks);
		r->tasks[r->count++] = *task;
		r->violations += r->count > r->requested;
		r->after_cancel += r->cancelled > 0;
		if (r->count == r->cancel_at) {
			pthread_mutex_unlock(&r->mutex);
			r->producer->cancel(r->producer);
			pthread_mutex_lock(&r->mutex);
			r->cancelled++;
		} else if (r->request_each != 0) {
			request(r, r->request_each);
		}
	}
	leave(r);
	return code;
}

static void on_error(struct gpuframe_arrow_async_handler *self, int code, const char *message, const char *metadata) {
	struct receiver *r = enter(self);
	(void)metadata;
	r->violations += r->errors++ > 0 || r->ends > 0;
	r->code = code;
	snprintf(r->message, sizeof r->message, "%s", message == NULL ? "" : message);
	leave(r);
}

static void release(struct gpuframe_arrow_async_handler *self) {
	struct receiver *r = enter(self);
	r->released++;
	leave(r);
}

struct receiver *receiver_new(void) {
	struct receiver *r = calloc(1, sizeof *r);
	r->handler = (struct gpuframe_arrow_async_handler){
		.on_schema = on_schema, .on_next_task = on_next_task, .on_error = on_error, .release = release};
	pthread_mutex_init(&r->mutex, NULL);
	pthread_cond_init(&r->changed, NULL);
	return r;
}

struct job {
	struct receiver *r;
	int64_t n;
	void *out;
	int code;
};

static int run(void *(*work)(void *), struct job *job, int on_thread) {
	pthread_t thread;
	if (!on_thread) {
		work(job);
	} else if (pthread_create(&thread, NULL, work, job) != 0 || pthread_join(thread, NULL) != 0) {
		return -2;
	}
	return job->code;
}

static void *request_work(void *argument) {
	struct job *job = argument;
	pthread_mutex_lock(&job->r->mutex);
	request(job->r, job->n);
	pthread_mutex_unlock(&job->r->mutex);
	return NULL;
}

int receiver_request(struct receiver *r, int64_t n, int on_thread) {
	struct job job = {r, n, NULL, 0};
	return run(request_work, &job, on_thread);
}

static void *cancel_work(void *argument) {
	struct job *job = argument;
	job->r->producer->cancel(job->r->producer);
	pthread_mutex_lock(&job->r->mutex);
	job->r->cancelled++;
	pthread_mutex_unlock(&job->r->mutex);
	return NULL;
}

int receiver_cancel(struct receiver *r, int on_thread) {
	struct job job = {r, 0, NULL, 0};
	return run(cancel_work, &job, on_thread);
}

static void *extract_work(void *argument) {
	struct job *job = argument;
	struct receiver *r = job->r;
	pthread_mutex_lock(&r->mutex);
	if (r->taken == r->count) {
		pthread_mutex_unlock(&r->mutex);
		job->code = -1;
		return NULL;
	}
	struct gpuframe_arrow_async_task task = r->tasks[r->taken++];
	pthread_mutex_unlock(&r->mutex);
	job->code = task.extract_data(&task, job->out);
	return NULL;
}

int receiver_extract(struct receiver *r, void *out, int on_thread) {
	struct job job = {r, 0, out, 0};
	return run(extract_work, &job, on_thread);
}

int receiver_extract_again(struct receiver *r, void *out) {
	struct gpuframe_arrow_async_task task = r->tasks[r->taken - 1];
	return task.extract_data(&task, out);
}

void receiver_wait(struct receiver *r, int64_t tasks) {
	pthread_mutex_lock(&r->mutex);
	while ((tasks > 0 ? r->count < tasks : r->schemas == 0) && r->released == 0) {
		pthread_cond_wait(&r->changed, &r->mutex);
	}
	pthread_mutex_unlock(&r->mutex);
}

void receiver_wait_end(struct receiver *r) {
	pthread_mutex_lock(&r->mutex);
	while (r->released == 0) {
		pthread_cond_wait(&r->changed, &r->mutex);
	}
	pthread_mutex_unlock(&r->mutex);
}

void receiver_count(struct receiver *r, struct receiver_counts *counts) {
	pthread_mutex_lock(&r->mutex);
	*counts = (struct receiver_counts){r->count, r->requested, r->after_cancel, r->schemas, r->ends,
		r->errors, r->code, r->released, r->violations, ""};
	snprintf(counts->message, sizeof counts->message, "%s", r->message);
	pthread_mutex_unlock(&r->mutex);
}

void receiver_free(struct receiver *r) {
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->mutex);
	free(r->tasks);
	free(r);
}
