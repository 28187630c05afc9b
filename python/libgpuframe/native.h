/* What Python's own machinery calls: types, capsules, and the table of DLPack's
   C exchange. */
#ifndef GPUFRAME_NATIVE_H
#define GPUFRAME_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#define GPUFRAME_PRIVATE __attribute__((visibility("hidden")))

/* What gpuframePythonExport answers, and how it is asked. */
enum { EXPORT_DONE = 0, EXPORT_FAILED = 1, EXPORT_WOULD_WAIT = 2 };
enum {
	EXPORT_LEGACY = 1,
	EXPORT_COPY = 2,
	EXPORT_NO_COPY = 4,
	EXPORT_MAY_WAIT = 8,
	EXPORT_STREAM_GIVEN = 16,
	EXPORT_TO_HOST = 32,
};

/* DLPack's structs. */
struct dl_device {
	int32_t type, id;
};
struct dl_tensor {
	void *data;
	struct dl_device device;
	int32_t ndim;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t *shape, *strides;
	uint64_t byte_offset;
};
struct dl_managed {
	struct dl_tensor tensor;
	void *context;
	void (*deleter)(struct dl_managed *);
};
struct dl_managed_versioned {
	uint32_t major, minor;
	void *context;
	void (*deleter)(struct dl_managed_versioned *);
	uint64_t flags;
	struct dl_tensor tensor;
};
struct dl_exchange_api {
	uint32_t major, minor;
	struct dl_exchange_api *previous;
	int (*allocate)(struct dl_tensor *prototype, struct dl_managed_versioned **out, void *context,
			void (*set_error)(void *context, const char *kind, const char *message));
	int (*from_object)(void *object, struct dl_managed_versioned **out);
	int (*to_object)(struct dl_managed_versioned *tensor, void **out);
	int (*tensor_from_object)(void *object, struct dl_tensor *out);
	int (*current_stream)(int32_t type, int32_t id, void **out);
};

_Static_assert(sizeof(struct dl_tensor) == 48, "DLTensor");
_Static_assert(sizeof(struct dl_managed) == 64, "DLManagedTensor");
_Static_assert(sizeof(struct dl_managed_versioned) == 80, "DLManagedTensorVersioned");
_Static_assert(sizeof(struct dl_exchange_api) == 56, "DLPackExchangeAPI");
_Static_assert(offsetof(struct dl_exchange_api, current_stream) == 48, "DLPackExchangeAPI.current_work_stream");

/* Marks a versioned tensor as a copy. */
GPUFRAME_PRIVATE void gpuframe_mark_copied(void *tensor);

#endif
