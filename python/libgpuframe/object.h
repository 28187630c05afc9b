#ifndef GPUFRAME_OBJECT_H
#define GPUFRAME_OBJECT_H

#include "python_abi.h"

/* What the library keeps in a Python object. */
struct object {
	uint64_t handle;
	struct dl_device device;
	int64_t shape, stride;
};

/* Returns the object's part that is the library's. */
GPUFRAME_PRIVATE struct object *gpuframe_object(PyObject *self);

/* Raises the error that a call returned, and frees it. Returns NULL. */
GPUFRAME_PRIVATE PyObject *gpuframe_raise(char *failed);

/* Makes a tensor of a column object. Returns NULL with an exception. */
GPUFRAME_PRIVATE void *gpuframe_export(PyObject *self, int64_t stream, uint32_t flags);

/* Calls what makes a Column of a handle. */
GPUFRAME_PRIVATE PyObject *gpuframe_wrap(uint64_t handle);

/* The type that columns derive from. */
GPUFRAME_PRIVATE PyObject *gpuframe_column_type(void);

/* Makes the capsules' functions and the exchange table known. Returns 0. */
GPUFRAME_PRIVATE int gpuframe_add_capsules(PyObject *module);
GPUFRAME_PRIVATE int gpuframe_add_exchange(PyObject *module);
GPUFRAME_PRIVATE PyObject *gpuframe_to_library(PyObject *self, PyObject *type);

/* Functions for Python: see there. */
GPUFRAME_PRIVATE PyObject *gpuframe_hold(PyObject *self, PyObject *fields);
GPUFRAME_PRIVATE PyObject *gpuframe_exit(PyObject *self, PyObject *ignored);

/* Puts a capsule around a tensor, which it deletes unless it is consumed. */
GPUFRAME_PRIVATE PyObject *gpuframe_tensor_capsule(void *tensor, int legacy);

#endif
