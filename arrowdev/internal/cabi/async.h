#ifndef GPUFRAME_ARROW_ASYNC_H
#define GPUFRAME_ARROW_ASYNC_H

#include "arrow_abi.h"

/* The callbacks of exported producers and tasks. private_data is a number of a
   Go value; for zero and for ended numbers the callbacks do nothing. */
GPUFRAME_PRIVATE void gpuframe_arrow_own_request(struct gpuframe_arrow_async_producer *self, int64_t n);
GPUFRAME_PRIVATE void gpuframe_arrow_own_cancel(struct gpuframe_arrow_async_producer *self);
GPUFRAME_PRIVATE int gpuframe_arrow_own_extract(struct gpuframe_arrow_async_task *self, struct gpuframe_arrow_device_array *out);

/* The callbacks of handlers of this library. */
GPUFRAME_PRIVATE int gpuframe_arrow_own_on_schema(struct gpuframe_arrow_async_handler *self, struct gpuframe_arrow_schema *schema);
GPUFRAME_PRIVATE int gpuframe_arrow_own_on_next_task(struct gpuframe_arrow_async_handler *self, struct gpuframe_arrow_async_task *task, const char *metadata);
GPUFRAME_PRIVATE void gpuframe_arrow_own_on_error(struct gpuframe_arrow_async_handler *self, int code, const char *message, const char *metadata);
GPUFRAME_PRIVATE void gpuframe_arrow_own_handler_release(struct gpuframe_arrow_async_handler *self);

/* Calls of any handler. */
GPUFRAME_PRIVATE int gpuframe_arrow_on_schema(struct gpuframe_arrow_async_handler *handler, struct gpuframe_arrow_schema *schema);
GPUFRAME_PRIVATE int gpuframe_arrow_on_next_task(struct gpuframe_arrow_async_handler *handler, struct gpuframe_arrow_async_task *task);
GPUFRAME_PRIVATE void gpuframe_arrow_on_error(struct gpuframe_arrow_async_handler *handler, int code, const char *message);
GPUFRAME_PRIVATE void gpuframe_arrow_handler_release(struct gpuframe_arrow_async_handler *handler);

/* Calls of any producer by the handler of a number. The number is recorded for the
   duration of the call: a release on this thread meanwhile is made by that call. */
GPUFRAME_PRIVATE void gpuframe_arrow_request(struct gpuframe_arrow_async_producer *producer, int64_t n, uint64_t handler);
GPUFRAME_PRIVATE void gpuframe_arrow_cancel(struct gpuframe_arrow_async_producer *producer, uint64_t handler);

/* A call of any task. */
GPUFRAME_PRIVATE int gpuframe_arrow_extract(struct gpuframe_arrow_async_task *task, struct gpuframe_arrow_device_array *out);

#endif
