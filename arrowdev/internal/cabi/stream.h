#ifndef GPUFRAME_ARROW_STREAM_H
#define GPUFRAME_ARROW_STREAM_H

#include <stddef.h>

#include "arrow_abi.h"

/* The callbacks of exported streams. private_data is the number of a source in Go. */
GPUFRAME_PRIVATE int gpuframe_arrow_own_stream_schema(struct gpuframe_arrow_stream *self, struct gpuframe_arrow_schema *out);
GPUFRAME_PRIVATE int gpuframe_arrow_own_stream_next(struct gpuframe_arrow_stream *self, struct gpuframe_arrow_array *out);
GPUFRAME_PRIVATE const char *gpuframe_arrow_own_stream_error(struct gpuframe_arrow_stream *self);
GPUFRAME_PRIVATE void gpuframe_arrow_own_stream_release(struct gpuframe_arrow_stream *self);

GPUFRAME_PRIVATE int gpuframe_arrow_own_device_stream_schema(struct gpuframe_arrow_device_stream *self, struct gpuframe_arrow_schema *out);
GPUFRAME_PRIVATE int gpuframe_arrow_own_device_stream_next(struct gpuframe_arrow_device_stream *self, struct gpuframe_arrow_device_array *out);
GPUFRAME_PRIVATE const char *gpuframe_arrow_own_device_stream_error(struct gpuframe_arrow_device_stream *self);
GPUFRAME_PRIVATE void gpuframe_arrow_own_device_stream_release(struct gpuframe_arrow_device_stream *self);

/* Cleared memory for structs, or NULL. */
GPUFRAME_PRIVATE void *gpuframe_arrow_allocate(size_t bytes);

/* Calls of any stream. A missing error message is NULL. */
GPUFRAME_PRIVATE int gpuframe_arrow_stream_schema(struct gpuframe_arrow_stream *stream, struct gpuframe_arrow_schema *out);
GPUFRAME_PRIVATE int gpuframe_arrow_stream_next(struct gpuframe_arrow_stream *stream, struct gpuframe_arrow_array *out);
GPUFRAME_PRIVATE const char *gpuframe_arrow_stream_error(struct gpuframe_arrow_stream *stream);
GPUFRAME_PRIVATE void gpuframe_arrow_stream_release(struct gpuframe_arrow_stream *stream);

GPUFRAME_PRIVATE int gpuframe_arrow_device_stream_schema(struct gpuframe_arrow_device_stream *stream, struct gpuframe_arrow_schema *out);
GPUFRAME_PRIVATE int gpuframe_arrow_device_stream_next(struct gpuframe_arrow_device_stream *stream, struct gpuframe_arrow_device_array *out);
GPUFRAME_PRIVATE const char *gpuframe_arrow_device_stream_error(struct gpuframe_arrow_device_stream *stream);
GPUFRAME_PRIVATE void gpuframe_arrow_device_stream_release(struct gpuframe_arrow_device_stream *stream);

#endif
