//go:build unix && !(386 || arm || mips || mipsle)

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../arrow_abi.h"
#include "reading.h"

struct read_job {
	struct gpuframe_arrow_device_stream *stream;
	int64_t limit;
	struct reading *result;
};

static void failed(struct read_job *job, int code) {
	const char *message = job->stream->get_last_error(job->stream);
	job->result->code = code;
	snprintf(job->result->message, sizeof job->result->message, "%s", message == NULL ? "" : message);
}

static void *read_all(void *argument) {
	struct read_job *job = argument;
	struct gpuframe_arrow_device_stream *stream = job->stream;
	struct gpuframe_arrow_schema schema;
	int code = stream->get_schema(stream, &schema);
	if (code != 0) {
		failed(job, code);
		stream->release(stream);
		return NULL;
	}
	job->result->columns = schema.n_children;
	schema.release(&schema);
	while (job->limit < 0 || job->result->batches < job->limit) {
		struct gpuframe_arrow_device_array array;
		memset(&array, 0xAB, sizeof array);
		code = stream->get_next(stream, &array);
		if (code != 0) {
			failed(job, code);
			break;
		}
		if (array.array.release == NULL) {
			break;
		}
		job->result->batches++;
		job->result->rows += array.array.length;
		job->result->device_type = array.device_type;
		array.array.release(&array.array);
	}
	stream->release(stream);
	return NULL;
}

static int on_thread(void *(*run)(void *), void *argument) {
	pthread_t thread;
	int failure = pthread_create(&thread, NULL, run, argument);
	return failure != 0 ? failure : pthread_join(thread, NULL);
}

int read_device_stream(void *stream, int64_t limit, int thread, struct reading *result) {
	struct read_job job = {stream, limit, result};
	if (thread) {
		return on_thread(read_all, &job);
	}
	read_all(&job);
	return 0;
}

int call_device_schema(void *of, void *self, void *out) {
	return ((struct gpuframe_arrow_device_stream *)of)->get_schema(self, out);
}

int call_device_next(void *of, void *self, void *out) {
	return ((struct gpuframe_arrow_device_stream *)of)->get_next(self, out);
}

const char *call_device_error(void *of, void *self) {
	return ((struct gpuframe_arrow_device_stream *)of)->get_last_error(self);
}

void call_device_release(void *of, void *self) { ((struct gpuframe_arrow_device_stream *)of)->release(self); }

struct next_job {
	void *self, *out;
	int code;
};

static void *next_thread(void *argument) {
	struct next_job *job = argument;
	job->code = call_device_next(job->self, job->self, job->out);
	return NULL;
}

int call_device_next_on_thread(void *self, void *out) {
	struct next_job job = {self, out, -1};
	return on_thread(next_thread, &job) != 0 ? -1 : job.code;
}

static void *release_thread(void *self) {
	call_device_release(self, self);
	return NULL;
}

int call_device_release_on_thread(void *self) { return on_thread(release_thread, self); }
