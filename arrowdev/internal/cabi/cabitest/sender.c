//go:build unix && !(386 || arm || mips || mipsle)

#include <errno.h>
#include <stdlib.h>

#include "sender.h"

/* A task holds its sender and the number of its batch. */
struct sent {
	struct sender *sender;
	int64_t batch;
};

static int extract(struct gpuframe_arrow_async_task *self, struct gpuframe_arrow_device_array *out) {
	struct sent *sent = (struct sent *)self->private_data;
	struct sender *s = sent->sender;
	int code = 0;
	if (out == NULL) {
		atomic_fetch_add(&s->discarded, 1);
	} else {
		atomic_fetch_add(&s->extracted, 1);
		code = batches_array(s->batches, sent->batch, out);
	}
	free(sent);
	atomic_fetch_sub(&s->tasks, 1);
	if (code != 0) {
		pthread_mutex_lock(&s->mutex);
		s->broken = code;
		pthread_cond_broadcast(&s->changed);
		pthread_mutex_unlock(&s->mutex);
	}
	return code;
}

static void request(struct gpuframe_arrow_async_producer *self, int64_t n) {
	struct sender *s = (struct sender *)self;
	pthread_mutex_lock(&s->mutex);
	s->wanted += n;
	s->requested += n;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->mutex);
}

static void release(struct sender *s) {
	pthread_mutex_lock(&s->mutex);
	while (s->held) {
		pthread_cond_wait(&s->changed, &s->mutex);
	}
	int first = !s->released;
	s->released = 1;
	pthread_mutex_unlock(&s->mutex);
	if (first) {
		s->handler->release(s->handler);
	}
}

static void cancel(struct gpuframe_arrow_async_producer *self) {
	struct sender *s = (struct sender *)self;
	pthread_mutex_lock(&s->mutex);
	s->cancels++;
	pthread_mutex_unlock(&s->mutex);
	if (s->mode == SENDER_RELEASES_IN_CALL) {
		release(s);
	}
	pthread_mutex_lock(&s->mutex);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->mutex);
}

static int send_task(struct sender *s, int64_t batch) {
	struct sent *sent = malloc(sizeof *sent);
	*sent = (struct sent){s, batch};
	atomic_fetch_add(&s->tasks, 1);
	struct gpuframe_arrow_async_task task = {extract, (uintptr_t)sent};
	pthread_mutex_lock(&s->mutex);
	s->delivered++;
	int64_t ahead = s->delivered - atomic_load(&s->extracted) - atomic_load(&s->discarded);
	if (ahead > s->ahead) {
		s->ahead = ahead;
	}
	pthread_mutex_unlock(&s->mutex);
	int code = s->handler->on_next_task(s->handler, &task, "\0\0\0\0");
	task = (struct gpuframe_arrow_async_task){NULL, 0};
	if (code != 0) { /* refused */
		free(sent);
		atomic_fetch_add(&s->discarded, 1);
		atomic_fetch_sub(&s->tasks, 1);
	}
	return code;
}

/* Reports whether another batch may be sent. */
static int wanted(struct sender *s) {
	pthread_mutex_lock(&s->mutex);
	while (s->wanted == 0 && s->cancels == 0 && s->broken == 0 && s->mode != SENDER_OVERRUNS) {
		pthread_cond_wait(&s->changed, &s->mutex);
	}
	int yes = s->cancels == 0 && s->broken == 0;
	s->wanted--;
	pthread_mutex_unlock(&s->mutex);
	return yes;
}

static void send_all(struct sender *s) {
	for (int64_t i = 0; i < s->batches->count; i++) {
		if (!wanted(s)) {
			break;
		}
		if (s->mode == SENDER_QUITS && i == s->at) {
			return;
		}
		if (s->mode == SENDER_FAILS && i == s->at) {
			s->handler->on_error(s->handler, s->code, "the disk is full", "\0\0\0\0");
			return;
		}
		if (send_task(s, i) != 0) {
			return;
		}
	}
	pthread_mutex_lock(&s->mutex);
	int cancelled = s->cancels > 0, broken = s->broken;
	pthread_mutex_unlock(&s->mutex);
	if (broken != 0) {
		s->handler->on_error(s->handler, broken, "the batch is broken", NULL);
	} else if (!cancelled) {
		s->handler->on_next_task(s->handler, NULL, NULL);
		if (s->mode == SENDER_GOES_ON) {
			send_task(s, 0);
		}
	}
}

static void *run(void *argument) {
	struct sender *s = argument;
	struct gpuframe_arrow_schema schema;
	if (s->mode == SENDER_RELEASES_FIRST) {
		release(s);
		return NULL;
	}
	s->handler->producer = s->mode == SENDER_HAS_NO_PRODUCER ? NULL : &s->producer;
	if (s->mode == SENDER_FAILS_FIRST) {
		s->handler->on_error(s->handler, s->code, NULL, NULL);
		release(s);
		return NULL;
	}
	int times = s->mode == SENDER_REPEATS_SCHEMA ? 2 : 1;
	for (int i = 0; i < times; i++) {
		batches_schema(s->batches, &schema);
		s->schema_code = s->handler->on_schema(s->handler, &schema);
		if (schema.release != NULL) {
			schema.release(&schema);
		}
	}
	if (s->schema_code == 0) {
		send_all(s);
	}
	release(s);
	return NULL;
}

struct sender *sender_new(struct batches *b, int mode, int64_t at, int code) {
	struct sender *s = calloc(1, sizeof *s);
	s->producer = (struct gpuframe_arrow_async_producer){.device_type = b->device_type, .request = request,
		.cancel = cancel, .additional_metadata = "\0\0\0\0"};
	s->batches = b;
	s->mode = mode;
	s->at = at;
	s->code = code;
	pthread_mutex_init(&s->mutex, NULL);
	pthread_cond_init(&s->changed, NULL);
	return s;
}

int sender_start(struct sender *s, void *handler) {
	s->handler = handler;
	return pthread_create(&s->thread, NULL, run, s);
}

void sender_hold(struct sender *s, int held) {
	pthread_mutex_lock(&s->mutex);
	s->held = held;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->mutex);
}

int sender_join(struct sender *s) { return pthread_join(s->thread, NULL); }

void sender_count(struct sender *s, struct sender_counts *counts) {
	pthread_mutex_lock(&s->mutex);
	*counts = (struct sender_counts){s->requested, s->delivered, s->ahead, atomic_load(&s->tasks),
		atomic_load(&s->extracted), atomic_load(&s->discarded), s->cancels, s->released, s->schema_code};
	pthread_mutex_unlock(&s->mutex);
}

void sender_free(struct sender *s) {
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}
