//go:build !(386 || arm || mips || mipsle)

#include <errno.h>
#include <string.h>

#include "async.h"
#include "_cgo_export.h"

/* The handler that is calling its producer on this thread. */
static _Thread_local uint64_t calling;

void gpuframe_arrow_own_request(struct gpuframe_arrow_async_producer *self, int64_t n) {
	if (self != NULL && !*gpuframe_arrow_forked) {
		gpuframeArrowRequest(self->private_data, n);
	}
}

void gpuframe_arrow_own_cancel(struct gpuframe_arrow_async_producer *self) {
	if (self != NULL && !*gpuframe_arrow_forked) {
		gpuframeArrowCancel(self->private_data);
	}
}

int gpuframe_arrow_own_extract(struct gpuframe_arrow_async_task *self, struct gpuframe_arrow_device_array *out) {
	if (out != NULL) {
		memset(out, 0, sizeof *out);
	}
	return self == NULL || *gpuframe_arrow_forked ? EINVAL : gpuframeArrowExtract(self->private_data, out);
}

int gpuframe_arrow_own_on_schema(struct gpuframe_arrow_async_handler *self, struct gpuframe_arrow_schema *schema) {
	return self == NULL || *gpuframe_arrow_forked ? EINVAL : gpuframeArrowOnSchema(self->private_data, schema);
}

int gpuframe_arrow_own_on_next_task(struct gpuframe_arrow_async_handler *self, struct gpuframe_arrow_async_task *task, const char *metadata) {
	(void)metadata;
	return self == NULL || *gpuframe_arrow_forked ? EINVAL : gpuframeArrowOnNextTask(self->private_data, task);
}

void gpuframe_arrow_own_on_error(struct gpuframe_arrow_async_handler *self, int code, const char *message, const char *metadata) {
	(void)metadata;
	if (self != NULL && !*gpuframe_arrow_forked) {
		gpuframeArrowOnError(self->private_data, code, (void *)message);
	}
}

void gpuframe_arrow_own_handler_release(struct gpuframe_arrow_async_handler *self) {
	if (self == NULL) {
		return;
	}
	uint64_t handler = self->private_data;
	self->release = NULL;
	self->producer = NULL;
	if (!*gpuframe_arrow_forked) {
		gpuframeArrowHandlerRelease(handler, calling == handler);
	}
}

int gpuframe_arrow_on_schema(struct gpuframe_arrow_async_handler *handler, struct gpuframe_arrow_schema *schema) {
	return handler->on_schema(handler, schema);
}

int gpuframe_arrow_on_next_task(struct gpuframe_arrow_async_handler *handler, struct gpuframe_arrow_async_task *task) {
	return handler->on_next_task(handler, task, NULL);
}

void gpuframe_arrow_on_error(struct gpuframe_arrow_async_handler *handler, int code, const char *message) {
	handler->on_error(handler, code, message, NULL);
}

void gpuframe_arrow_handler_release(struct gpuframe_arrow_async_handler *handler) {
	handler->release(handler);
}

void gpuframe_arrow_request(struct gpuframe_arrow_async_producer *producer, int64_t n, uint64_t handler) {
	uint64_t before = calling;
	calling = handler;
	producer->request(producer, n);
	calling = before;
}

void gpuframe_arrow_cancel(struct gpuframe_arrow_async_producer *producer, uint64_t handler) {
	uint64_t before = calling;
	calling = handler;
	producer->cancel(producer);
	calling = before;
}

int gpuframe_arrow_extract(struct gpuframe_arrow_async_task *task, struct gpuframe_arrow_device_array *out) {
	return task->extract_data(task, out);
}
