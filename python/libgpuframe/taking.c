//go:build !(386 || arm || mips || mipsle)

/* Tensors of other libraries: how they are taken and how they become columns. */
#include "object.h"
#include "_cgo_export.h"

/* Kept by address in capsules, so that they are never freed. */
static const char versioned[] = "dltensor_versioned", used_versioned[] = "used_dltensor_versioned";
static const char plain[] = "dltensor", used_plain[] = "used_dltensor";

enum { CUDA = 2, MANAGED = 13 };
enum { COMPLEX = 5 };

/* Returns a tuple of numbers, or NULL with an exception. */
static PyObject *tuple_of(const int64_t *numbers, Py_ssize_t count) {
	PyObject *tuple = py.PyTuple_New(count);
	for (Py_ssize_t i = 0; tuple != NULL && i < count; i++) {
		if (py.PyTuple_SetItem(tuple, i, py.PyLong_FromLongLong(numbers[i])) < 0) {
			py.Py_DecRef(tuple);
			return NULL;
		}
	}
	return tuple;
}

/* take_tensor(capsule) -> (address, legacy, device type, device id): consumes a
   producer's capsule. The device is the one that the tensor itself names. */
PyObject *gpuframe_take_tensor(PyObject *self, PyObject *capsule) {
	(void)self;
	int legacy = 0;
	if (!py.PyCapsule_IsValid(capsule, versioned)) {
		legacy = 1;
		if (!py.PyCapsule_IsValid(capsule, plain)) {
			py.PyErr_SetString(py.TypeError, "expected a capsule of a DLPack tensor that was not consumed before");
			return NULL;
		}
	}
	void *tensor = py.PyCapsule_GetPointer(capsule, legacy ? plain : versioned);
	struct dl_device on;
	if (legacy) {
		on = ((struct dl_managed *)tensor)->tensor.device;
	} else if (((struct dl_managed_versioned *)tensor)->major == 1) {
		on = ((struct dl_managed_versioned *)tensor)->tensor.device;
	} else {
		on = (struct dl_device){0, 0}; /* of another major version only the deleter may be used */
	}
	PyObject *taken = tuple_of((int64_t[]){(int64_t)(uintptr_t)tensor, legacy, on.type, on.id}, 4);
	if (taken != NULL && py.PyCapsule_SetName(capsule, legacy ? used_plain : used_versioned) < 0) {
		py.Py_DecRef(taken);
		return NULL;
	}
	return taken;
}

static PyObject *none(void) {
	py.Py_IncRef(py.None);
	return py.None;
}

/* A library that fails should set an exception. Returns NULL with an exception. */
static PyObject *refused(void) {
	if (py.PyErr_Occurred() == NULL) {
		py.PyErr_SetString(py.BufferError, "the object's library exported no tensor and set no exception");
	}
	return NULL;
}

/* exchanged(object) -> (address, device type, device id, stream), or None where the
   object's type has no exchange table of a version that is known. The stream is the
   one that its library works on, as a number of the Python protocol, and zero for
   memory that has none: nothing was waited for. Complex numbers take the protocol,
   for libraries may only mark them as conjugated, which a tensor cannot say. */
PyObject *gpuframe_exchanged(PyObject *self, PyObject *object) {
	(void)self;
	if (gpuframe_in_child()) {
		return NULL;
	}
	PyObject *type = py.PyObject_Type(object);
	struct dl_exchange_api *theirs = gpuframe_exchange_table(type);
	py.Py_DecRef(type);
	if (theirs == NULL) {
		py.PyErr_Clear();
		return none();
	}
	struct dl_managed_versioned *tensor = NULL;
	if (theirs->from_object(object, &tensor) != 0 || tensor == NULL) {
		return refused();
	}
	struct dl_device on = tensor->tensor.device;
	if (tensor->major != 1 || tensor->tensor.code == COMPLEX) {
		gpuframe_delete_tensor(tensor, 0);
		return none();
	}
	void *stream = NULL;
	int64_t number = 0;
	if (on.type == CUDA || on.type == MANAGED) {
		if (theirs->current_stream(CUDA, on.id, &stream) != 0) {
			gpuframe_delete_tensor(tensor, 0);
			return refused();
		}
		number = stream == NULL ? 1 : (int64_t)(uintptr_t)stream;
	}
	PyObject *taken = tuple_of((int64_t[]){(int64_t)(uintptr_t)tensor, on.type, on.id, number}, 4);
	if (taken == NULL) {
		gpuframe_delete_tensor(tensor, 0);
	}
	return taken;
}

/* import_tensor(manager's handle, address, legacy, stream, name as bytes) -> handle of
   a column. The tensor is consumed in any case; a manager of zero only does that,
   and returns None. */
PyObject *gpuframe_import_tensor(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
	(void)self;
	enum { MANAGER, ADDRESS, LEGACY, STREAM, NAME, ARGUMENTS };
	if (nargs != ARGUMENTS) {
		py.PyErr_SetString(py.TypeError, "import_tensor() takes five arguments");
		return NULL;
	}
	uint64_t manager = py.PyLong_AsUnsignedLongLong(args[MANAGER]);
	void *tensor = (void *)(uintptr_t)py.PyLong_AsUnsignedLongLong(args[ADDRESS]);
	int legacy = (int)py.PyLong_AsLongLong(args[LEGACY]);
	int64_t stream = py.PyLong_AsLongLong(args[STREAM]);
	const char *name = py.PyBytes_AsString(args[NAME]);
	if (py.PyErr_Occurred() != NULL || gpuframe_in_child()) {
		return NULL;
	}
	if (manager == 0) {
		gpuframe_delete_tensor(tensor, legacy);
		return none();
	}
	uint64_t handle = 0;
	void *thread = py.PyEval_SaveThread();
	char *failed = gpuframe_dlpack_import(manager, tensor, legacy, stream, (char *)name, &handle);
	py.PyEval_RestoreThread(thread);
	return failed != NULL ? gpuframe_raise(failed) : py.PyLong_FromUnsignedLongLong(handle);
}
