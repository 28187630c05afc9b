#ifndef GPUFRAME_CABITEST_READING_H
#define GPUFRAME_CABITEST_READING_H

#include <stdint.h>

/* The result of a consumer of an ArrowDeviceArrayStream. */
struct reading {
	int64_t batches, rows, columns;
	int32_t device_type; /* of the last array */
	int code;
	char message[256];
};

/* Read a stream to its end or error, or for a number of batches unless it is
   negative; then release it. If on_thread is set, on a thread of C. */
int read_device_stream(void *stream, int64_t limit, int on_thread, struct reading *result);

/* One call each. NULL is passed on even if the standard forbids it. */
int call_device_schema(void *of, void *self, void *out);
int call_device_next(void *of, void *self, void *out);
const char *call_device_error(void *of, void *self);
void call_device_release(void *of, void *self);
int call_device_next_on_thread(void *self, void *out);
int call_device_release_on_thread(void *self);

#endif
