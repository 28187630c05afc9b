#ifndef GPUFRAME_ARROW_ASYNC_H
#define GPUFRAME_ARROW_ASYNC_H

#include "arrow_abi.h"

/* What exported producers and tasks carry. private_data is a number that Go
   knows; zero, and numbers that have ended, do nothing. */
GPUFRAME_PRIVATE void gpuframe_arrow_own_request(struct gpuframe_arrow_async_producer *self, int64_t n);
GPUFRAME_PRIVATE void gpuframe_arrow_own_cancel(struct gpuframe_arrow_async_producer *self);
GPUFRAME_PRIVATE int gpuframe_arrow_own_extract(struct gpuframe_arrow_async_task *self, struct gpuframe_arrow_device_array *out);

/* What handlers of this library carry. */
GPUFRAME_PRIVATE int gpuframe_arrow_own_on_schema(struct gpuframe_arrow_async_handler *self, struct gpuframe_arrow_schema *schema);
GPUFRAME_PRIVATE int gpuframe_arrow_own_on_next_task(struct gpuframe_arrow_async_handler *self, struct gpuframe_arrow_async_task *task, const char *metadata);
GPUFRAME_PRIVATE void gpuframe_arrow_own_on_error(struct gpuframe_arrow_async_handler *self, int code, const char *message, const char *metadata);
GPUFRAME_PRIVATE void gpuframe_arrow_own_handler_release(struct gpuframe_arrow_async_handler *self);

/* Calls of anybody's handler. */
GPUFRAME_PRIVATE int gpuframe_arrow_on_schema(struct gpuframe_arrow_async_handler *handler, struct gpuframe_arrow_schema *schema);
GPUFRAME_PRIVATE int gpuframe_arrow_on_next_task(struct gpuframe_arrow_async_handler *handler, struct gpuframe_arrow_async_task *task);
GPUFRAME_PRIVATE void gpuframe_arrow_on_error(struct gpuframe_arrow_async_handler *handler, int code, const char *message);
GPUFRAME_PRIVATE void gpuframe_arrow_handler_release(struct gpuframe_arrow_async_handler *handler);

/* Calls of anybody's producer by the handler of a number, which is remembered for
   the time of the call: a release on this thread comes out of it. */
GPUFRAME_PRIVATE void gpuframe_arrow_request(struct gpuframe_arrow_async_producer *producer, int64_t n, uint64_t handler);
GPUFRAME_PRIVATE void gpuframe_arrow_cancel(struct gpuframe_arrow_async_producer *producer, uint64_t handler);

/* A call of anybody's task. */
GPUFRAME_PRIVATE int gpuframe_arrow_extract(struct gpuframe_arrow_async_task *task, struct gpuframe_arrow_device_array *out);

#endif
