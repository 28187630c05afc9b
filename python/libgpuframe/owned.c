//go:build !(386 || arm || mips || mipsle)

/* Memory that a Python object owns, as a tensor. */
#include <stdlib.h>

#include "object.h"

struct owned {
	struct dl_managed_versioned tensor;
	int64_t shape, stride;
	PyObject *owner;
};

/* The deleter comes from whatever thread and takes the interpreter's lock. Once the
   interpreter ends the object stays: nobody else needs its memory any more. */
static void delete_owned(struct dl_managed_versioned *self) {
	struct owned *o = self->context;
	if (!gpuframe_forked && !gpuframe_exiting && py.Py_IsInitialized()) {
		int state = py.PyGILState_Ensure();
		py.Py_DecRef(o->owner);
		py.PyGILState_Release(state);
	}
	free(o);
}

enum { OWNER, ADDRESS, LENGTH, CODE, BITS, DEVICE_TYPE, DEVICE_ID, READ_ONLY, FIELDS };

/* hold((owner, address, length, code, bits, device type, device id, read-only)) ->
   address of a versioned tensor that keeps the owner alive. */
PyObject *gpuframe_hold(PyObject *self, PyObject *fields) {
	(void)self;
	unsigned long long number[FIELDS];
	for (int i = ADDRESS; i < FIELDS; i++) {
		PyObject *field = py.PyTuple_GetItem(fields, i);
		if (field == NULL) {
			return NULL;
		}
		number[i] = py.PyLong_AsUnsignedLongLong(field);
		if (number[i] == (unsigned long long)-1 && py.PyErr_Occurred() != NULL) {
			return NULL;
		}
	}
	struct owned *o = calloc(1, sizeof *o);
	PyObject *address = o == NULL ? NULL : py.PyLong_FromUnsignedLongLong((uintptr_t)o);
	if (address == NULL) {
		free(o);
		py.PyErr_SetString(py.RuntimeError, "no memory for a tensor's struct");
		return NULL;
	}
	o->owner = py.PyTuple_GetItem(fields, OWNER);
	py.Py_IncRef(o->owner);
	o->shape = (int64_t)number[LENGTH];
	o->stride = 1;
	o->tensor = (struct dl_managed_versioned){.major = 1, .context = o, .deleter = delete_owned, .flags = number[READ_ONLY] != 0};
	struct dl_tensor *t = &o->tensor.tensor;
	t->data = (void *)(uintptr_t)number[ADDRESS];
	t->device.type = (int32_t)number[DEVICE_TYPE];
	t->device.id = (int32_t)number[DEVICE_ID];
	t->ndim = 1;
	t->code = (uint8_t)number[CODE];
	t->bits = (uint8_t)number[BITS];
	t->lanes = 1;
	t->shape = &o->shape;
	t->strides = &o->stride;
	return address;
}

/* exiting(): from now on objects are not released any more. */
PyObject *gpuframe_exit(PyObject *self, PyObject *ignored) {
	(void)self, (void)ignored;
	gpuframe_exiting = 1;
	py.Py_IncRef(py.None);
	return py.None;
}
