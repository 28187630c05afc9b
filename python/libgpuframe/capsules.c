//go:build !(386 || arm || mips || mipsle)

#include <stdlib.h>
#include <string.h>

#include "object.h"

/* Names of capsules are compared by their text but kept by address: they are
   never freed. */
static const char versioned[] = "dltensor_versioned", plain[] = "dltensor";

void gpuframe_mark_copied(void *tensor) { ((struct dl_managed_versioned *)tensor)->flags |= 2; }

/* It is called with the interpreter's lock held and gives it back, for the deleter may wait for a
   thread that wants it. */
void gpuframe_delete_tensor(void *tensor, int legacy) {
	if (gpuframe_forked || gpuframe_exiting) {
		return;
	}
	void *thread = py.PyEval_SaveThread();
	if (legacy) {
		struct dl_managed *managed = tensor;
		if (managed->deleter != NULL) {
			managed->deleter(managed);
		}
	} else {
		struct dl_managed_versioned *managed = tensor;
		if (managed->deleter != NULL) {
			managed->deleter(managed);
		}
	}
	py.PyEval_RestoreThread(thread);
}

/* A consumer has renamed the capsule: then it has another name than ours. */
static void drop_tensor(PyObject *capsule) {
	for (int legacy = 0; legacy < 2; legacy++) {
		const char *name = legacy ? plain : versioned;
		if (py.PyCapsule_IsValid(capsule, name)) {
			gpuframe_delete_tensor(py.PyCapsule_GetPointer(capsule, name), legacy);
			return;
		}
	}
}

PyObject *gpuframe_tensor_capsule(void *tensor, int legacy) {
	PyObject *capsule = py.PyCapsule_New(tensor, legacy ? plain : versioned, drop_tensor);
	if (capsule == NULL) {
		gpuframe_delete_tensor(tensor, legacy);
	}
	return capsule;
}

/* The structs of the Arrow C interfaces that capsules hold. */
static const struct kind {
	const char *name;
	size_t bytes, release;
} kinds[] = {
	{"arrow_schema", 72, 56},
	{"arrow_array", 80, 64},
	{"arrow_array_stream", 40, 24},
	{"arrow_device_array", 128, 64},
	{"arrow_device_array_stream", 48, 32},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Releases a struct that was not moved out of its capsule, and frees its memory. */
static void drop_struct(PyObject *capsule) {
	for (int i = 0; i < KINDS; i++) {
		if (!py.PyCapsule_IsValid(capsule, kinds[i].name)) {
			continue;
		}
		char *memory = py.PyCapsule_GetPointer(capsule, kinds[i].name);
		void (*release)(void *);
		memcpy(&release, memory + kinds[i].release, sizeof release);
		if (release != NULL && !gpuframe_forked && !gpuframe_exiting) {
			void *thread = py.PyEval_SaveThread();
			release(memory);
			py.PyEval_RestoreThread(thread);
		}
		free(memory);
		return;
	}
}

/* new_struct(kind) -> (capsule, address): an empty struct in a capsule. */
static PyObject *new_struct(PyObject *self, PyObject *kind) {
	(void)self;
	long long i = py.PyLong_AsLongLong(kind);
	if (i < 0 || i >= KINDS) {
		if (py.PyErr_Occurred() == NULL) {
			py.PyErr_SetString(py.ValueError, "no Arrow struct has that number");
		}
		return NULL;
	}
	void *memory = calloc(1, kinds[i].bytes);
	PyObject *pair = py.PyTuple_New(2);
	PyObject *capsule = memory == NULL || pair == NULL ? NULL : py.PyCapsule_New(memory, kinds[i].name, drop_struct);
	if (capsule == NULL) {
		free(memory);
		if (pair != NULL) {
			py.Py_DecRef(pair);
		}
		if (py.PyErr_Occurred() == NULL) {
			py.PyErr_SetString(py.RuntimeError, "no memory for an Arrow struct");
		}
		return NULL;
	}
	py.PyTuple_SetItem(pair, 0, capsule);
	py.PyTuple_SetItem(pair, 1, py.PyLong_FromUnsignedLongLong((uintptr_t)memory));
	return pair;
}

/* struct_of(capsule) -> (address, kind): the struct stays the capsule's. */
static PyObject *struct_of(PyObject *self, PyObject *capsule) {
	(void)self;
	for (int i = 0; i < KINDS; i++) {
		if (!py.PyCapsule_IsValid(capsule, kinds[i].name)) {
			continue;
		}
		PyObject *pair = py.PyTuple_New(2);
		if (pair != NULL) {
			py.PyTuple_SetItem(pair, 0, py.PyLong_FromUnsignedLongLong((uintptr_t)py.PyCapsule_GetPointer(capsule, kinds[i].name)));
			py.PyTuple_SetItem(pair, 1, py.PyLong_FromLongLong(i));
		}
		return pair;
	}
	py.PyErr_SetString(py.TypeError, "expected a capsule of an Arrow C struct");
	return NULL;
}

static struct py_method functions[] = {
	{"take_tensor", gpuframe_take_tensor, PY_METH_O, "Consume a capsule of DLPack."},
	{"exchanged", gpuframe_exchanged, PY_METH_O, "Take a tensor from an object by its type's DLPack exchange table."},
	{"import_tensor", gpuframe_import_tensor, PY_METH_FASTCALL, "Make a column of a tensor that was taken."},
	{"new_struct", new_struct, PY_METH_O, "Make an empty Arrow struct in a capsule."},
	{"hold", gpuframe_hold, PY_METH_O, "Make a tensor of memory that an object owns."},
	{"exiting", gpuframe_exit, PY_METH_NOARGS, "Release nothing from now on."},
	{"struct_of", struct_of, PY_METH_O, "Return where a capsule's Arrow struct is."},
};

int gpuframe_add_capsules(PyObject *names) {
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		PyObject *function = py.PyCFunction_NewEx(&functions[i], NULL, NULL);
		if (function == NULL || py.PyDict_SetItemString(names, functions[i].name, function) < 0) {
			return -1;
		}
		py.Py_DecRef(function);
	}
	return 0;
}
