/* The parts of Arrow's C structs that the library itself looks at. */
#ifndef GPUFRAME_ARROW_STREAMS_H
#define GPUFRAME_ARROW_STREAMS_H

#include "native.h"

/* The functions of ArrowArrayStream, which ArrowDeviceArrayStream has too, behind
   the number of its device type. */
struct arrow_stream {
	int (*get_schema)(void *stream, void *schema);
	int (*get_next)(void *stream, void *array);
	const char *(*get_last_error)(void *stream);
	void (*release)(void *stream);
	void *private_data;
};
struct arrow_device_stream {
	int32_t device_type;
	struct arrow_stream functions;
};
_Static_assert(sizeof(struct arrow_stream) == 40, "ArrowArrayStream");
_Static_assert(sizeof(struct arrow_device_stream) == 48, "ArrowDeviceArrayStream");

enum { ARRAY_BYTES = 80, DEVICE_ARRAY_BYTES = 128, SCHEMA_BYTES = 72, ARRAY_RELEASE = 64, SCHEMA_RELEASE = 56 };

/* Call a producer's stream. They return what the producer does, 0 for success. */
GPUFRAME_PRIVATE int gpuframe_stream_schema(void *stream, int on_device, void *schema);
GPUFRAME_PRIVATE int gpuframe_stream_next(void *stream, int on_device, void *array);
GPUFRAME_PRIVATE const char *gpuframe_stream_error(void *stream, int on_device);
GPUFRAME_PRIVATE void gpuframe_stream_release(void *stream, int on_device);

/* Make a stream of one batch: the table of a handle, which the stream releases. */
GPUFRAME_PRIVATE int gpuframe_stream_of_table(uint64_t table, int on_device, int32_t device_type, void *stream);

/* Call an array's or a schema's own release, unless it is released. */
GPUFRAME_PRIVATE void gpuframe_release_array(void *array);
GPUFRAME_PRIVATE void gpuframe_release_schema(void *schema);

#endif
