//go:build unix && !(386 || arm || mips || mipsle)

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../arrow_abi.h"
#include "child.h"

/* The alarm ends a child that waits for a thread that it does not have. */
enum { SECONDS = 20 };

static int in_child(int (*run)(void *), void *argument) {
	int status = -1;
	pid_t pid = fork();
	if (pid == 0) {
		alarm(SECONDS);
		_exit(run(argument));
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid ? -1 : status;
}

static int release_array(void *argument) {
	struct gpuframe_arrow_array *array = argument;
	array->release(array);
	return array->release == NULL ? 0 : STILL_THERE;
}

static int release_schema(void *argument) {
	struct gpuframe_arrow_schema *schema = argument;
	schema->release(schema);
	return schema->release == NULL ? 0 : STILL_THERE;
}

static int use_stream(void *argument) {
	struct gpuframe_arrow_device_stream *stream = argument;
	struct gpuframe_arrow_schema schema;
	struct gpuframe_arrow_device_array array;
	if (stream->get_schema(stream, &schema) == 0 || schema.release != NULL) {
		return GIVEN;
	}
	if (stream->get_next(stream, &array) == 0 || array.array.release != NULL) {
		return GIVEN;
	}
	const char *message = stream->get_last_error(stream);
	if (message == NULL || strstr(message, "forked") == NULL) {
		return UNEXPLAINED;
	}
	stream->release(stream);
	return stream->release == NULL ? 0 : STILL_THERE;
}

int release_array_in_child(void *array) { return in_child(release_array, array); }

int release_schema_in_child(void *schema) { return in_child(release_schema, schema); }

int use_stream_in_child(void *stream) { return in_child(use_stream, stream); }
