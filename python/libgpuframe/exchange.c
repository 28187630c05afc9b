//go:build !(386 || arm || mips || mipsle)

/* DLPack's C exchange: a table of functions that a type offers, by which tensors
   change hands without any Python code. */
#include <stdlib.h>

#include "object.h"
#include "_cgo_export.h"

static const char table_name[] = "dlpack_exchange_api";

/* A tensor of any shape in memory that is a tensor of bytes in Go. */
struct allocated {
	struct dl_managed_versioned outer;
	struct dl_managed_versioned *bytes;
	int64_t sizes[];
};

static void delete_allocated(struct dl_managed_versioned *self) {
	struct allocated *a = self->context;
	a->bytes->deleter(a->bytes);
	free(a);
}

/* Multiplies sizes. Returns 0 where one is negative or the product too large. */
static int product(const struct dl_tensor *t, int64_t *bytes) {
	*bytes = ((int64_t)t->bits * t->lanes + 7) / 8;
	for (int i = 0; i < t->ndim; i++) {
		if (t->shape[i] < 0 || __builtin_mul_overflow(*bytes, t->shape[i], bytes)) {
			return 0;
		}
	}
	return 1;
}

static int allocate(struct dl_tensor *prototype, struct dl_managed_versioned **out, void *context,
		    void (*set_error)(void *context, const char *kind, const char *message)) {
	int64_t bytes;
	*out = NULL;
	if (prototype->ndim < 0 || (prototype->ndim > 0 && prototype->shape == NULL) || !product(prototype, &bytes)) {
		set_error(context, "ValueError", "gpuframe: the prototype's shape is not one");
		return -1;
	}
	struct allocated *a = calloc(1, sizeof *a + 2 * (size_t)prototype->ndim * sizeof *a->sizes);
	if (a == NULL) {
		set_error(context, "MemoryError", "gpuframe: no memory for a tensor's struct");
		return -1;
	}
	void *inner = NULL;
	char *failed = gpuframePythonAllocate(prototype->device.type, prototype->device.id, bytes, &inner);
	if (failed != NULL) {
		set_error(context, "MemoryError", failed);
		gpuframe_free(failed);
		free(a);
		return -1;
	}
	a->bytes = inner;
	a->outer = *a->bytes;
	a->outer.context = a;
	a->outer.deleter = delete_allocated;
	struct dl_tensor *t = &a->outer.tensor;
	t->ndim = prototype->ndim;
	t->code = prototype->code;
	t->bits = prototype->bits;
	t->lanes = prototype->lanes;
	t->shape = a->sizes;
	t->strides = a->sizes + t->ndim;
	int64_t stride = 1;
	for (int i = t->ndim - 1; i >= 0; i--) {
		t->shape[i] = prototype->shape[i];
		t->strides[i] = stride;
		stride *= t->shape[i];
	}
	*out = &a->outer;
	return 0;
}

static int is_column(PyObject *object) {
	int is = py.PyObject_IsInstance(object, gpuframe_column_type());
	if (is == 0) {
		py.PyErr_SetString(py.TypeError, "expected a gpuframe.Column");
	}
	return is > 0;
}

/* The tensor's memory is ready for the legacy default stream, which is what
   current_stream tells: nothing is waited for, but where work is under way that
   stream does. */
static int from_object(void *object, struct dl_managed_versioned **out) {
	*out = is_column(object) ? gpuframe_export(object, 0, 0) : NULL;
	return *out == NULL ? -1 : 0;
}

static int to_object(struct dl_managed_versioned *tensor, void **out) {
	uint64_t handle = 0;
	void *thread = py.PyEval_SaveThread();
	char *failed = gpuframePythonImport(tensor, tensor->tensor.device.type, tensor->tensor.device.id, &handle);
	py.PyEval_RestoreThread(thread);
	*out = NULL;
	if (failed != NULL) {
		gpuframe_raise(failed);
		return -1;
	}
	*out = gpuframe_wrap(handle);
	return *out == NULL ? -1 : 0;
}

/* The view is borrowed: the column keeps the memory, the object the shape. So a
   column whose tensor would be a copy has none. */
static int tensor_from_object(void *object, struct dl_tensor *out) {
	struct dl_managed_versioned *tensor = is_column(object) ? gpuframe_export(object, 0, EXPORT_NO_COPY) : NULL;
	if (tensor == NULL) {
		return -1;
	}
	struct object *o = gpuframe_object(object);
	*out = tensor->tensor;
	o->shape = out->ndim == 1 ? out->shape[0] : 0;
	o->stride = 1;
	int ndim = out->ndim;
	out->shape = &o->shape;
	out->strides = &o->stride;
	tensor->deleter(tensor); /* the column itself holds the memory */
	if (ndim != 1) {
		py.PyErr_SetString(py.BufferError, "only columns of one dimension can be viewed");
		return -1;
	}
	return 0;
}

static int current_stream(int32_t type, int32_t id, void **out) {
	(void)type, (void)id;
	*out = NULL;
	return 0;
}

static struct dl_exchange_api table = {
	1, 3, NULL, allocate, from_object, to_object, tensor_from_object, current_stream,
};

static PyObject *attribute;

int gpuframe_add_exchange(PyObject *names) {
	attribute = py.PyUnicode_InternFromString("__dlpack_c_exchange_api__");
	PyObject *capsule = py.PyCapsule_New(&table, table_name, NULL);
	if (attribute == NULL || capsule == NULL) {
		return -1;
	}
	int failed = py.PyObject_SetAttrString(gpuframe_column_type(), "__dlpack_c_exchange_api__", capsule);
	if (failed == 0) {
		failed = py.PyDict_SetItemString(names, "exchange", capsule);
	}
	py.Py_DecRef(capsule);
	return failed;
}

struct dl_exchange_api *gpuframe_exchange_table(PyObject *type) {
	PyObject *capsule = py.PyObject_GetAttr(type, attribute);
	if (capsule == NULL) {
		return NULL;
	}
	struct dl_exchange_api *theirs = py.PyCapsule_GetPointer(capsule, table_name);
	py.Py_DecRef(capsule); /* tables are never freed */
	if (theirs == NULL) {
		return NULL;
	}
	while (theirs != NULL && theirs->major != 1) {
		theirs = theirs->previous;
	}
	if (theirs == NULL) {
		py.PyErr_SetString(py.BufferError, "the type's DLPack exchange table is not of version 1");
	}
	return theirs;
}

/* to(type): asks the type's library on which stream it works, and has it make a
   tensor of the column there. */
PyObject *gpuframe_to_library(PyObject *self, PyObject *type) {
	struct object *o = gpuframe_object(self);
	struct dl_exchange_api *theirs = gpuframe_exchange_table(type);
	if (theirs == NULL) {
		return NULL;
	}
	void *stream = NULL;
	uint32_t flags = 0;
	int64_t number = 0;
	if (o->device.type == 2) {
		if (theirs->current_stream(o->device.type, o->device.id, &stream) != 0) {
			return NULL;
		}
		number = stream == NULL ? 1 : (int64_t)(uintptr_t)stream;
		flags = EXPORT_STREAM_GIVEN;
	}
	struct dl_managed_versioned *tensor = gpuframe_export(self, number, flags);
	if (tensor == NULL) {
		return NULL;
	}
	void *made = NULL;
	if (theirs->to_object(tensor, &made) != 0 || made == NULL) {
		if (py.PyErr_Occurred() == NULL) {
			py.PyErr_SetString(py.BufferError, "the type's library refused the column and set no exception");
		}
		return NULL;
	}
	return made;
}
