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

/* Makes a tensor of a column or table object. Returns NULL with an exception. */
GPUFRAME_PRIVATE void *gpuframe_export(PyObject *self, int64_t stream, uint32_t flags);

/* Calls what makes a Column of a handle. */
GPUFRAME_PRIVATE PyObject *gpuframe_wrap(uint64_t handle);

/* The type that columns derive from. */
GPUFRAME_PRIVATE PyObject *gpuframe_column_type(void);

/* Prepares what __dlpack__ needs. Returns 0. */
GPUFRAME_PRIVATE int gpuframe_add_protocol(void);

/* Makes the capsules' functions and the exchange table known. Returns 0. */
GPUFRAME_PRIVATE int gpuframe_add_capsules(PyObject *module);
GPUFRAME_PRIVATE int gpuframe_add_exchange(PyObject *module);
GPUFRAME_PRIVATE PyObject *gpuframe_to_library(PyObject *self, PyObject *type);

/* Functions for Python: see there. */
GPUFRAME_PRIVATE PyObject *gpuframe_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
GPUFRAME_PRIVATE PyObject *gpuframe_take_tensor(PyObject *self, PyObject *capsule);
GPUFRAME_PRIVATE PyObject *gpuframe_exchanged(PyObject *self, PyObject *object);
GPUFRAME_PRIVATE PyObject *gpuframe_import_tensor(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
GPUFRAME_PRIVATE PyObject *gpuframe_hold(PyObject *self, PyObject *fields);
GPUFRAME_PRIVATE PyObject *gpuframe_exit(PyObject *self, PyObject *ignored);

/* Refuses to go on in a forked process. Returns whether it is one, with an exception. */
GPUFRAME_PRIVATE int gpuframe_in_child(void);

/* Returns the exchange table of a type, or NULL with an exception. */
GPUFRAME_PRIVATE struct dl_exchange_api *gpuframe_exchange_table(PyObject *type);

/* Runs the deleter of a tensor that nobody consumed. */
GPUFRAME_PRIVATE void gpuframe_delete_tensor(void *tensor, int legacy);

/* Puts a capsule around a tensor, which it deletes unless it is consumed. */
GPUFRAME_PRIVATE PyObject *gpuframe_tensor_capsule(void *tensor, int legacy);

#endif
