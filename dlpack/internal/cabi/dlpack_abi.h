/* The binary interface of DLPack on platforms with 64-bit pointers. Addresses
   that Go reads or writes are uintptr_t, which Go sees as plain words. */
#ifndef GPUFRAME_DLPACK_ABI_H
#define GPUFRAME_DLPACK_ABI_H

#include <stddef.h>
#include <stdint.h>

struct gpuframe_dl_version {
	uint32_t major;
	uint32_t minor;
};

struct gpuframe_dl_device {
	int32_t type;
	int32_t id;
};

struct gpuframe_dl_data_type {
	uint8_t code;
	uint8_t bits;
	uint16_t lanes;
};

struct gpuframe_dl_tensor {
	uintptr_t data;
	struct gpuframe_dl_device device;
	int32_t ndim;
	struct gpuframe_dl_data_type data_type;
	uintptr_t shape;
	uintptr_t strides;
	uint64_t byte_offset;
};

struct gpuframe_dl_managed {
	struct gpuframe_dl_tensor tensor;
	uintptr_t context;
	void (*deleter)(struct gpuframe_dl_managed *self);
};

struct gpuframe_dl_managed_versioned {
	struct gpuframe_dl_version version;
	uintptr_t context;
	void (*deleter)(struct gpuframe_dl_managed_versioned *self);
	uint64_t flags;
	struct gpuframe_dl_tensor tensor;
};

/* The largest number of dimensions of an exported tensor. */
#define GPUFRAME_DL_DIMENSIONS 8

struct gpuframe_dl_record {
	struct gpuframe_dl_managed_versioned versioned;
	struct gpuframe_dl_managed legacy;
	int64_t shape[GPUFRAME_DL_DIMENSIONS];
	int64_t strides[GPUFRAME_DL_DIMENSIONS];
};

#define GPUFRAME_AT(type, field, where) \
	_Static_assert(offsetof(struct type, field) == (where), "DLPack: " #type "." #field)

_Static_assert(sizeof(struct gpuframe_dl_device) == 8, "DLDevice");
_Static_assert(sizeof(struct gpuframe_dl_data_type) == 4, "DLDataType");
GPUFRAME_AT(gpuframe_dl_data_type, bits, 1);
GPUFRAME_AT(gpuframe_dl_data_type, lanes, 2);

_Static_assert(sizeof(struct gpuframe_dl_tensor) == 48, "DLTensor");
GPUFRAME_AT(gpuframe_dl_tensor, data, 0);
GPUFRAME_AT(gpuframe_dl_tensor, device, 8);
GPUFRAME_AT(gpuframe_dl_tensor, ndim, 16);
GPUFRAME_AT(gpuframe_dl_tensor, data_type, 20);
GPUFRAME_AT(gpuframe_dl_tensor, shape, 24);
GPUFRAME_AT(gpuframe_dl_tensor, strides, 32);
GPUFRAME_AT(gpuframe_dl_tensor, byte_offset, 40);

_Static_assert(sizeof(struct gpuframe_dl_managed) == 64, "DLManagedTensor");
GPUFRAME_AT(gpuframe_dl_managed, tensor, 0);
GPUFRAME_AT(gpuframe_dl_managed, context, 48);
GPUFRAME_AT(gpuframe_dl_managed, deleter, 56);

_Static_assert(sizeof(struct gpuframe_dl_managed_versioned) == 80, "DLManagedTensorVersioned");
GPUFRAME_AT(gpuframe_dl_managed_versioned, version, 0);
GPUFRAME_AT(gpuframe_dl_managed_versioned, context, 8);
GPUFRAME_AT(gpuframe_dl_managed_versioned, deleter, 16);
GPUFRAME_AT(gpuframe_dl_managed_versioned, flags, 24);
GPUFRAME_AT(gpuframe_dl_managed_versioned, tensor, 32);

#define GPUFRAME_PRIVATE __attribute__((visibility("hidden")))

/* The deleters of gpuframe's tensors. They are private, so that two libraries with
   gpuframe in one process do not recognise each other's tensors. In a forked child they
   do nothing. */
GPUFRAME_PRIVATE void gpuframe_dl_delete(struct gpuframe_dl_managed *self);
GPUFRAME_PRIVATE void gpuframe_dl_delete_versioned(struct gpuframe_dl_managed_versioned *self);

/* Make the deleters read the flag of internal/base/forks. */
GPUFRAME_PRIVATE void gpuframe_dl_watch(const volatile int *flag);

/* Return zeroed memory for records, or NULL. */
GPUFRAME_PRIVATE void *gpuframe_dl_new_records(size_t count);

/* Run the deleter of any tensor, if it has one. */
GPUFRAME_PRIVATE void gpuframe_dl_run_deleter(struct gpuframe_dl_managed *tensor);
GPUFRAME_PRIVATE void gpuframe_dl_run_deleter_versioned(struct gpuframe_dl_managed_versioned *tensor);

#endif
