/* The binary interface of Arrow's C data, C stream and C device interfaces on
   platforms with 64-bit pointers. Addresses that Go reads or writes are
   uintptr_t, which Go sees as plain words. */
#ifndef GPUFRAME_ARROW_ABI_H
#define GPUFRAME_ARROW_ABI_H

#include <stddef.h>
#include <stdint.h>

struct gpuframe_arrow_schema {
	uintptr_t format;
	uintptr_t name;
	uintptr_t metadata;
	int64_t flags;
	int64_t n_children;
	uintptr_t children;
	uintptr_t dictionary;
	void (*release)(struct gpuframe_arrow_schema *self);
	uintptr_t private_data;
};

struct gpuframe_arrow_array {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	uintptr_t buffers;
	uintptr_t children;
	uintptr_t dictionary;
	void (*release)(struct gpuframe_arrow_array *self);
	uintptr_t private_data;
};

struct gpuframe_arrow_device_array {
	struct gpuframe_arrow_array array;
	int64_t device_id;
	int32_t device_type;
	uintptr_t sync_event;
	int64_t reserved[3];
};

struct gpuframe_arrow_stream {
	int (*get_schema)(struct gpuframe_arrow_stream *self, struct gpuframe_arrow_schema *out);
	int (*get_next)(struct gpuframe_arrow_stream *self, struct gpuframe_arrow_array *out);
	const char *(*get_last_error)(struct gpuframe_arrow_stream *self);
	void (*release)(struct gpuframe_arrow_stream *self);
	uintptr_t private_data;
};

struct gpuframe_arrow_device_stream {
	int32_t device_type;
	int (*get_schema)(struct gpuframe_arrow_device_stream *self, struct gpuframe_arrow_schema *out);
	int (*get_next)(struct gpuframe_arrow_device_stream *self, struct gpuframe_arrow_device_array *out);
	const char *(*get_last_error)(struct gpuframe_arrow_device_stream *self);
	void (*release)(struct gpuframe_arrow_device_stream *self);
	uintptr_t private_data;
};

struct gpuframe_arrow_async_task {
	int (*extract_data)(struct gpuframe_arrow_async_task *self, struct gpuframe_arrow_device_array *out);
	uintptr_t private_data;
};

struct gpuframe_arrow_async_producer {
	int32_t device_type;
	void (*request)(struct gpuframe_arrow_async_producer *self, int64_t n);
	void (*cancel)(struct gpuframe_arrow_async_producer *self);
	const char *additional_metadata;
	uintptr_t private_data;
};

struct gpuframe_arrow_async_handler {
	int (*on_schema)(struct gpuframe_arrow_async_handler *self, struct gpuframe_arrow_schema *schema);
	int (*on_next_task)(struct gpuframe_arrow_async_handler *self, struct gpuframe_arrow_async_task *task, const char *metadata);
	void (*on_error)(struct gpuframe_arrow_async_handler *self, int code, const char *message, const char *metadata);
	void (*release)(struct gpuframe_arrow_async_handler *self);
	struct gpuframe_arrow_async_producer *producer;
	uintptr_t private_data;
};

#define GPUFRAME_AT(type, field, where) \
	_Static_assert(offsetof(struct type, field) == (where), "Arrow: " #type "." #field)
#define GPUFRAME_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "Arrow: " #type)

GPUFRAME_SIZE(gpuframe_arrow_schema, 72);
GPUFRAME_AT(gpuframe_arrow_schema, flags, 24);
GPUFRAME_AT(gpuframe_arrow_schema, dictionary, 48);
GPUFRAME_AT(gpuframe_arrow_schema, release, 56);

GPUFRAME_SIZE(gpuframe_arrow_array, 80);
GPUFRAME_AT(gpuframe_arrow_array, buffers, 40);
GPUFRAME_AT(gpuframe_arrow_array, dictionary, 56);
GPUFRAME_AT(gpuframe_arrow_array, release, 64);

GPUFRAME_SIZE(gpuframe_arrow_device_array, 128);
GPUFRAME_AT(gpuframe_arrow_device_array, device_id, 80);
GPUFRAME_AT(gpuframe_arrow_device_array, device_type, 88);
GPUFRAME_AT(gpuframe_arrow_device_array, sync_event, 96);
GPUFRAME_AT(gpuframe_arrow_device_array, reserved, 104);

GPUFRAME_SIZE(gpuframe_arrow_stream, 40);
GPUFRAME_SIZE(gpuframe_arrow_device_stream, 48);
GPUFRAME_AT(gpuframe_arrow_device_stream, get_schema, 8);
GPUFRAME_SIZE(gpuframe_arrow_async_task, 16);
GPUFRAME_SIZE(gpuframe_arrow_async_producer, 40);
GPUFRAME_AT(gpuframe_arrow_async_producer, request, 8);
GPUFRAME_AT(gpuframe_arrow_async_producer, additional_metadata, 24);
GPUFRAME_SIZE(gpuframe_arrow_async_handler, 48);
GPUFRAME_AT(gpuframe_arrow_async_handler, producer, 32);

/* gpuframe's own symbols are private, so that two libraries with gpuframe in one
   process do not mistake each other's structs for their own. */
#define GPUFRAME_PRIVATE __attribute__((visibility("hidden")))

/* The flag of internal/base/forks, which is set in a forked child: Go's other threads do not
   exist there, so a call of Go could block without end. */
extern GPUFRAME_PRIVATE const volatile int *gpuframe_arrow_forked;
GPUFRAME_PRIVATE void gpuframe_arrow_watch(const volatile int *flag);

#endif
