#ifndef GPUFRAME_CABITEST_BATCHES_H
#define GPUFRAME_CABITEST_BATCHES_H

#include <pthread.h>
#include <stdatomic.h>

#include "../arrow_abi.h"

/* Another library's batches of one int32 column "n". Batch i has the given number
   of rows, at data + 4 * rows * i. */
struct batches {
	int32_t device_type;
	int64_t device_id;
	uintptr_t data;
	int64_t rows;
	int64_t count;
	/* Injected errors: batch fail_at fails with fail_code, batch elsewhere_at is on
	   another device; -1 means no batch. The schema may misdescribe the column. */
	int64_t fail_at;
	int fail_code;
	int64_t elsewhere_at;
	const char *format;
	/* The event of all batches; it outlives them. */
	uintptr_t sync_event;
	/* The numbers of objects that the other side holds. */
	_Atomic int64_t schemas, arrays, streams;
};

struct batches *batches_new(void);
void batches_schema(struct batches *b, struct gpuframe_arrow_schema *out);
int batches_array(struct batches *b, int64_t i, struct gpuframe_arrow_device_array *out);

void batches_lie(struct batches *b);
void batches_held(struct batches *b, int64_t held[3]);

/* Streams of the batches; both begin with batch 0. */
void batches_device_stream(struct batches *b, void *out);
void batches_stream(struct batches *b, void *out);

#endif
