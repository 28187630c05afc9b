//go:build unix && !(386 || arm || mips || mipsle)

#include <pthread.h>
#include <stdlib.h>

#include "producer.h"

static void count(struct producer *p) {
	if (atomic_fetch_add(&p->deleted, 1) == 0 && p->source != NULL) {
		p->source->deleter(p->source);
	}
}

static void delete_legacy(struct gpuframe_dl_managed *self) {
	count((struct producer *)self->context);
}

static void delete_versioned(struct gpuframe_dl_managed_versioned *self) {
	count((struct producer *)self->context);
}

struct producer *producer_new(void) {
	struct producer *p = calloc(1, sizeof *p);
	if (p != NULL) {
		p->versioned.context = p->legacy.context = (uintptr_t)p;
		p->versioned.deleter = delete_versioned;
		p->legacy.deleter = delete_legacy;
	}
	return p;
}

void producer_no_deleter(struct producer *p) {
	p->versioned.deleter = NULL;
	p->legacy.deleter = NULL;
}

int producer_deleted(struct producer *p) { return atomic_load(&p->deleted); }

void consumer_delete(void *tensor, int legacy) {
	if (legacy) {
		struct gpuframe_dl_managed *t = tensor;
		t->deleter(t);
	} else {
		struct gpuframe_dl_managed_versioned *t = tensor;
		t->deleter(t);
	}
}

struct task {
	void *tensor;
	int legacy;
};

static void *run(void *argument) {
	struct task *task = argument;
	consumer_delete(task->tensor, task->legacy);
	return NULL;
}

int consumer_delete_on_thread(void *tensor, int legacy) {
	struct task task = {tensor, legacy};
	pthread_t thread;
	int failed = pthread_create(&thread, NULL, run, &task);
	return failed != 0 ? failed : pthread_join(thread, NULL);
}
