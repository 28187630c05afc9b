//go:build unix && !(386 || arm || mips || mipsle)

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "batches.h"

struct batches *batches_new(void) {
	struct batches *b = calloc(1, sizeof *b);
	b->fail_at = b->elsewhere_at = -1;
	b->format = "i";
	return b;
}

struct schema_part {
	struct batches *owner;
	struct gpuframe_arrow_schema child;
	struct gpuframe_arrow_schema *children[1];
};

static void release_child_schema(struct gpuframe_arrow_schema *self) { self->release = NULL; }

static void release_schema(struct gpuframe_arrow_schema *self) {
	struct schema_part *part = (struct schema_part *)self->private_data;
	if (part->child.release != NULL) {
		part->child.release(&part->child);
	}
	atomic_fetch_sub(&part->owner->schemas, 1);
	free(part);
	self->release = NULL;
}

void batches_schema(struct batches *b, struct gpuframe_arrow_schema *out) {
	struct schema_part *part = calloc(1, sizeof *part);
	part->owner = b;
	part->children[0] = &part->child;
	part->child = (struct gpuframe_arrow_schema){
		.format = (uintptr_t)b->format, .name = (uintptr_t)"n", .flags = 2, .release = release_child_schema};
	*out = (struct gpuframe_arrow_schema){.format = (uintptr_t)"+s", .name = (uintptr_t)"", .n_children = 1,
		.children = (uintptr_t)part->children, .release = release_schema, .private_data = (uintptr_t)part};
	atomic_fetch_add(&b->schemas, 1);
}

struct array_part {
	struct batches *owner;
	struct gpuframe_arrow_array child;
	struct gpuframe_arrow_array *children[1];
	const void *buffers[1];
	const void *child_buffers[2];
};

static void release_child_array(struct gpuframe_arrow_array *self) { self->release = NULL; }

static void release_array(struct gpuframe_arrow_array *self) {
	struct array_part *part = (struct array_part *)self->private_data;
	if (part->child.release != NULL) {
		part->child.release(&part->child);
	}
	atomic_fetch_sub(&part->owner->arrays, 1);
	free(part);
	self->release = NULL;
}

int batches_array(struct batches *b, int64_t i, struct gpuframe_arrow_device_array *out) {
	if (i == b->fail_at) {
		return b->fail_code;
	}
	struct array_part *part = calloc(1, sizeof *part);
	part->owner = b;
	part->children[0] = &part->child;
	part->child_buffers[1] = (const void *)(b->data + 4 * (uintptr_t)(b->rows * i));
	part->child = (struct gpuframe_arrow_array){.length = b->rows, .n_buffers = 2,
		.buffers = (uintptr_t)part->child_buffers, .release = release_child_array};
	*out = (struct gpuframe_arrow_device_array){
		.array = {.length = b->rows, .n_buffers = 1, .n_children = 1, .buffers = (uintptr_t)part->buffers,
			.children = (uintptr_t)part->children, .release = release_array, .private_data = (uintptr_t)part},
		.device_id = b->device_id, .device_type = i == b->elsewhere_at ? 8 : b->device_type,
		.sync_event = b->sync_event,
		.reserved = {1, 2, 3}}; /* known producers leave it unset */
	atomic_fetch_add(&b->arrays, 1);
	return 0;
}

struct stream_part {
	struct batches *owner;
	int64_t next;
	char message[64];
};

static int next_of(struct stream_part *part, struct gpuframe_arrow_device_array *out) {
	if (part->next == part->owner->count) {
		out->array.release = NULL;
		return 0;
	}
	int code = batches_array(part->owner, part->next, out);
	if (code != 0) {
		snprintf(part->message, sizeof part->message, "batch %lld is broken", (long long)part->next);
		return code;
	}
	part->next++;
	return 0;
}

static int device_stream_schema(struct gpuframe_arrow_device_stream *self, struct gpuframe_arrow_schema *out) {
	batches_schema(((struct stream_part *)self->private_data)->owner, out);
	return 0;
}

static int device_stream_next(struct gpuframe_arrow_device_stream *self, struct gpuframe_arrow_device_array *out) {
	return next_of((struct stream_part *)self->private_data, out);
}

static const char *device_stream_error(struct gpuframe_arrow_device_stream *self) {
	return ((struct stream_part *)self->private_data)->message;
}

static void release_part(struct stream_part *part) {
	atomic_fetch_sub(&part->owner->streams, 1);
	free(part);
}

static void device_stream_release(struct gpuframe_arrow_device_stream *self) {
	release_part((struct stream_part *)self->private_data);
	self->release = NULL;
}

static struct stream_part *new_part(struct batches *b) {
	struct stream_part *part = calloc(1, sizeof *part);
	part->owner = b;
	atomic_fetch_add(&b->streams, 1);
	return part;
}

void batches_device_stream(struct batches *b, void *out) {
	*(struct gpuframe_arrow_device_stream *)out = (struct gpuframe_arrow_device_stream){
		.device_type = b->device_type, .get_schema = device_stream_schema, .get_next = device_stream_next,
		.get_last_error = device_stream_error, .release = device_stream_release, .private_data = (uintptr_t)new_part(b)};
}

static int stream_schema(struct gpuframe_arrow_stream *self, struct gpuframe_arrow_schema *out) {
	batches_schema(((struct stream_part *)self->private_data)->owner, out);
	return 0;
}

static int stream_next(struct gpuframe_arrow_stream *self, struct gpuframe_arrow_array *out) {
	struct gpuframe_arrow_device_array array;
	int code = next_of((struct stream_part *)self->private_data, &array);
	if (code == 0) {
		*out = array.array;
	}
	return code;
}

static const char *stream_error(struct gpuframe_arrow_stream *self) {
	return ((struct stream_part *)self->private_data)->message;
}

static void stream_release(struct gpuframe_arrow_stream *self) {
	release_part((struct stream_part *)self->private_data);
	self->release = NULL;
}

void batches_stream(struct batches *b, void *out) {
	*(struct gpuframe_arrow_stream *)out = (struct gpuframe_arrow_stream){.get_schema = stream_schema,
		.get_next = stream_next, .get_last_error = stream_error, .release = stream_release,
		.private_data = (uintptr_t)new_part(b)};
}

void batches_lie(struct batches *b) { b->format = "u"; }

void batches_held(struct batches *b, int64_t held[3]) {
	held[0] = atomic_load(&b->schemas);
	held[1] = atomic_load(&b->arrays);
	held[2] = atomic_load(&b->streams);
}
