//go:build !(386 || arm || mips || mipsle)

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arrow_abi.h"
#include "python_abi.h"
#include "_cgo_export.h"

static struct arrow_stream *functions(void *stream, int on_device) {
	return on_device ? &((struct arrow_device_stream *)stream)->functions : stream;
}

int gpuframe_stream_schema(void *stream, int on_device, void *schema) { return functions(stream, on_device)->get_schema(stream, schema); }

int gpuframe_stream_next(void *stream, int on_device, void *array) { return functions(stream, on_device)->get_next(stream, array); }

const char *gpuframe_stream_error(void *stream, int on_device) {
	struct arrow_stream *f = functions(stream, on_device);
	return f->get_last_error == NULL ? NULL : f->get_last_error(stream);
}

void gpuframe_stream_release(void *stream, int on_device) {
	struct arrow_stream *f = functions(stream, on_device);
	if (f->release != NULL) {
		f->release(stream);
	}
}

static void release_at(void *structure, size_t where) {
	void (*release)(void *);
	memcpy(&release, (char *)structure + where, sizeof release);
	if (release != NULL) {
		release(structure);
	}
}

void gpuframe_release_array(void *array) { release_at(array, ARRAY_RELEASE); }

void gpuframe_release_schema(void *schema) { release_at(schema, SCHEMA_RELEASE); }

/* The state of an exported stream. */
struct batch {
	uint64_t table;
	int on_device, given;
	char *error;
};

static struct batch *host_batch(void *stream) { return ((struct arrow_stream *)stream)->private_data; }

static struct batch *device_batch(void *stream) { return ((struct arrow_device_stream *)stream)->functions.private_data; }

/* Keeps the error of a call until the next one, for get_last_error. */
static int finished(struct batch *b, char *failed) {
	if (b->error != NULL) {
		gpuframe_free(b->error);
	}
	b->error = failed;
	return failed == NULL ? 0 : EIO;
}

/* In a forked child Go is not called, for its other threads do not exist there. */
static const char in_child[] = "gpuframe cannot be used in a forked process: start it with the method \"spawn\"";

static int schema_of(struct batch *b, void *schema) {
	return gpuframe_forked ? ENOTSUP : finished(b, gpuframe_arrow_schema(b->table, schema));
}

static const char *error_of(struct batch *b) { return gpuframe_forked ? in_child : b->error; }

static int next(struct batch *b, void *array) {
	memset(array, 0, b->on_device ? DEVICE_ARRAY_BYTES : ARRAY_BYTES);
	if (gpuframe_forked) {
		return ENOTSUP;
	}
	if (b->given) {
		return finished(b, NULL); /* a released array is the end */
	}
	char *failed = b->on_device ? gpuframe_arrow_export_device(b->table, array, NULL) : gpuframe_arrow_export(b->table, array, NULL);
	b->given = failed == NULL;
	return finished(b, failed);
}

static void end(struct batch *b) {
	if (gpuframe_forked) {
		return; /* the memory ends with the process */
	}
	finished(b, NULL);
	char *failed = gpuframe_release(b->table);
	if (failed != NULL) {
		gpuframe_free(failed);
	}
	free(b);
}

static int host_schema(void *stream, void *schema) { return schema_of(host_batch(stream), schema); }

static int host_next(void *stream, void *array) { return next(host_batch(stream), array); }

static const char *host_error(void *stream) { return error_of(host_batch(stream)); }

static void host_release(void *stream) {
	end(host_batch(stream));
	((struct arrow_stream *)stream)->release = NULL;
}

static int device_schema(void *stream, void *schema) {
	return schema_of(device_batch(stream), schema);
}

static int device_next(void *stream, void *array) { return next(device_batch(stream), array); }

static const char *device_error(void *stream) { return error_of(device_batch(stream)); }

static void device_release(void *stream) {
	end(device_batch(stream));
	((struct arrow_device_stream *)stream)->functions.release = NULL;
}

int gpuframe_stream_of_table(uint64_t table, int on_device, int32_t device_type, void *stream) {
	struct batch *b = calloc(1, sizeof *b);
	if (b == NULL) {
		return ENOMEM;
	}
	b->table = table;
	b->on_device = on_device;
	if (on_device) {
		struct arrow_device_stream made = {device_type, {device_schema, device_next, device_error, device_release, b}};
		memcpy(stream, &made, sizeof made);
	} else {
		struct arrow_stream made = {host_schema, host_next, host_error, host_release, b};
		memcpy(stream, &made, sizeof made);
	}
	return 0;
}
