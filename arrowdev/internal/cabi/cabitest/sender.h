#ifndef GPUFRAME_CABITEST_SENDER_H
#define GPUFRAME_CABITEST_SENDER_H

#include "batches.h"

enum {
	SENDER_GOOD,             /* follows the protocol */
	SENDER_QUITS,            /* releases at a batch, without an end or an error */
	SENDER_FAILS,            /* on_error at a batch */
	SENDER_FAILS_FIRST,      /* on_error before on_schema */
	SENDER_RELEASES_FIRST,   /* release only */
	SENDER_OVERRUNS,         /* sends everything without requests */
	SENDER_GOES_ON,          /* a task after the end */
	SENDER_REPEATS_SCHEMA,   /* on_schema twice */
	SENDER_RELEASES_IN_CALL, /* release inside cancel, on the consumer's thread */
	SENDER_HAS_NO_PRODUCER,  /* handler->producer is NULL */
};

struct sender {
	struct gpuframe_arrow_async_producer producer; /* first */
	struct gpuframe_arrow_async_handler *handler;
	struct batches *batches;
	int mode;
	int64_t at;
	int code;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int64_t wanted, requested, delivered, ahead;
	int cancels, broken, released, schema_code, held;
	_Atomic int64_t tasks, extracted, discarded;
};

struct sender_counts {
	int64_t requested, delivered, ahead, tasks, extracted, discarded;
	int cancels, released, schema_code;
};

struct sender *sender_new(struct batches *b, int mode, int64_t at, int code);
int sender_start(struct sender *s, void *handler);
/* Delay the release of the handler until held is false. */
void sender_hold(struct sender *s, int held);
int sender_join(struct sender *s);
void sender_count(struct sender *s, struct sender_counts *counts);
void sender_free(struct sender *s);

#endif
