//go:build !(386 || arm || mips || mipsle)

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"
#include "_cgo_export.h"

/* A call clears its output first, so that the output is released even if the call
   fails. Go reports a missing output, because it keeps the stream's last error. In a
   forked child Go is not called. */

static const char in_child[] = "arrowdev: gpuframe cannot be used in a forked process: start the process with spawn or exec";

int gpuframe_arrow_own_stream_schema(struct gpuframe_arrow_stream *self, struct gpuframe_arrow_schema *out) {
	if (out != NULL) {
		memset(out, 0, sizeof *out);
	}
	if (*gpuframe_arrow_forked) {
		return ENOTSUP;
	}
	return self == NULL ? EINVAL : gpuframeArrowStreamSchema(self->private_data, out);
}

int gpuframe_arrow_own_stream_next(struct gpuframe_arrow_stream *self, struct gpuframe_arrow_array *out) {
	if (out != NULL) {
		memset(out, 0, sizeof *out);
	}
	if (*gpuframe_arrow_forked) {
		return ENOTSUP;
	}
	return self == NULL ? EINVAL : gpuframeArrowStreamNext(self->private_data, out);
}

const char *gpuframe_arrow_own_stream_error(struct gpuframe_arrow_stream *self) {
	if (*gpuframe_arrow_forked) {
		return in_child;
	}
	return self == NULL ? NULL : (const char *)gpuframeArrowStreamError(self->private_data);
}

void gpuframe_arrow_own_stream_release(struct gpuframe_arrow_stream *self) {
	if (self != NULL) {
		self->release = NULL;
		if (!*gpuframe_arrow_forked) {
			gpuframeArrowStreamRelease(self->private_data);
		}
	}
}

int gpuframe_arrow_own_device_stream_schema(struct gpuframe_arrow_device_stream *self, struct gpuframe_arrow_schema *out) {
	if (out != NULL) {
		memset(out, 0, sizeof *out);
	}
	if (*gpuframe_arrow_forked) {
		return ENOTSUP;
	}
	return self == NULL ? EINVAL : gpuframeArrowStreamSchema(self->private_data, out);
}

int gpuframe_arrow_own_device_stream_next(struct gpuframe_arrow_device_stream *self, struct gpuframe_arrow_device_array *out) {
	if (out != NULL) {
		memset(out, 0, sizeof *out);
	}
	if (*gpuframe_arrow_forked) {
		return ENOTSUP;
	}
	return self == NULL ? EINVAL : gpuframeArrowStreamNext(self->private_data, out);
}

const char *gpuframe_arrow_own_device_stream_error(struct gpuframe_arrow_device_stream *self) {
	if (*gpuframe_arrow_forked) {
		return in_child;
	}
	return self == NULL ? NULL : (const char *)gpuframeArrowStreamError(self->private_data);
}

void gpuframe_arrow_own_device_stream_release(struct gpuframe_arrow_device_stream *self) {
	if (self != NULL) {
		self->release = NULL;
		if (!*gpuframe_arrow_forked) {
			gpuframeArrowStreamRelease(self->private_data);
		}
	}
}

void *gpuframe_arrow_allocate(size_t bytes) { return calloc(1, bytes); }

int gpuframe_arrow_stream_schema(struct gpuframe_arrow_stream *stream, struct gpuframe_arrow_schema *out) {
	return stream->get_schema(stream, out);
}

int gpuframe_arrow_stream_next(struct gpuframe_arrow_stream *stream, struct gpuframe_arrow_array *out) {
	return stream->get_next(stream, out);
}

const char *gpuframe_arrow_stream_error(struct gpuframe_arrow_stream *stream) {
	return stream->get_last_error == NULL ? NULL : stream->get_last_error(stream);
}

void gpuframe_arrow_stream_release(struct gpuframe_arrow_stream *stream) {
	if (stream->release != NULL) {
		stream->release(stream);
	}
}

int gpuframe_arrow_device_stream_schema(struct gpuframe_arrow_device_stream *stream, struct gpuframe_arrow_schema *out) {
	return stream->get_schema(stream, out);
}

int gpuframe_arrow_device_stream_next(struct gpuframe_arrow_device_stream *stream, struct gpuframe_arrow_device_array *out) {
	return stream->get_next(stream, out);
}

const char *gpuframe_arrow_device_stream_error(struct gpuframe_arrow_device_stream *stream) {
	return stream->get_last_error == NULL ? NULL : stream->get_last_error(stream);
}

void gpuframe_arrow_device_stream_release(struct gpuframe_arrow_device_stream *stream) {
	if (stream->release != NULL) {
		stream->release(stream);
	}
}
