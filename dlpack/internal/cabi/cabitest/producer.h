#ifndef GPUFRAME_CABITEST_PRODUCER_H
#define GPUFRAME_CABITEST_PRODUCER_H

#include <stdatomic.h>

#include "../dlpack_abi.h"

/* A tensor of another library. Its deleter does not free it, so that a second call of the
   deleter is counted and does not crash. */
struct producer {
	struct gpuframe_dl_managed_versioned versioned;
	struct gpuframe_dl_managed legacy;
	int64_t shape[10];
	int64_t strides[10];
	_Atomic int deleted;
	/* The tensor that this one was made of. The deleter of this one runs its deleter. */
	struct gpuframe_dl_managed_versioned *source;
};

struct producer *producer_new(void);
void producer_no_deleter(struct producer *p);
int producer_deleted(struct producer *p);

/* Call a tensor's deleter, on this thread or on a new one that is joined. */
void consumer_delete(void *tensor, int legacy);
int consumer_delete_on_thread(void *tensor, int legacy);

/* Call a tensor's deleter in a forked child. Returns the child's status as waitpid
   reports it, or -1. */
int consumer_delete_in_child(void *tensor, int legacy);

#endif
