//go:build !(386 || arm || mips || mipsle)

/* __dlpack__ and its arguments. */
#include "object.h"

/* Reads item i of a pair such as max_version. Returns 0 with an exception. */
static int item(PyObject *pair, Py_ssize_t i, long long *value) {
	PyObject *found = py.PySequence_GetItem(pair, i);
	if (found == NULL) {
		return 0;
	}
	*value = py.PyLong_AsLongLong(found);
	py.Py_DecRef(found);
	return *value != -1 || py.PyErr_Occurred() == NULL;
}

enum { HOST = 1 }; /* DLPack's code of the CPU */
enum { STREAM, MAX_VERSION, DL_DEVICE, COPY, ARGUMENTS };
static const char *const argument_names[ARGUMENTS] = {"stream", "max_version", "dl_device", "copy"};
static PyObject *interned[ARGUMENTS];

/* Sorts keyword arguments. Returns 0 with an exception. */
static int arguments(PyObject *const *args, Py_ssize_t nargs, PyObject *names, PyObject **found) {
	if (nargs != 0) {
		py.PyErr_SetString(py.TypeError, "__dlpack__() takes keyword arguments only");
		return 0;
	}
	Py_ssize_t count = names == NULL ? 0 : py.PyTuple_Size(names);
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *name = py.PyTuple_GetItem(names, i);
		int which = 0;
		while (which < ARGUMENTS && interned[which] != name) {
			which++;
		}
		if (which == ARGUMENTS) {
			for (which = 0; which < ARGUMENTS && py.PyUnicode_CompareWithASCIIString(name, argument_names[which]) != 0;) {
				which++;
			}
		}
		if (which == ARGUMENTS) {
			py.PyErr_Format(py.TypeError, "__dlpack__() got an unexpected keyword argument '%S'", name);
			return 0;
		}
		found[which] = args[i] == py.None ? NULL : args[i];
	}
	return 1;
}

/* Turns arguments into flags. Returns 0 with an exception. */
static int understand(struct object *o, PyObject **given, int64_t *stream, uint32_t *flags) {
	long long major = 0, type, id;
	if (given[MAX_VERSION] != NULL && !item(given[MAX_VERSION], 0, &major)) {
		return 0;
	}
	*flags = major < 1 ? EXPORT_LEGACY : 0;
	if (given[STREAM] != NULL) {
		*stream = py.PyLong_AsLongLong(given[STREAM]);
		if (*stream == -1 && py.PyErr_Occurred() != NULL) {
			return 0;
		}
		*flags |= EXPORT_STREAM_GIVEN;
	}
	if (given[DL_DEVICE] != NULL) {
		if (!item(given[DL_DEVICE], 0, &type) || !item(given[DL_DEVICE], 1, &id)) {
			return 0;
		}
		if (type == HOST && id == 0 && o->device.type != HOST) {
			*flags |= EXPORT_TO_HOST;
		} else if (type != o->device.type || id != o->device.id) {
			py.PyErr_Format(py.BufferError, "the data is on device (%i, %i), not on (%i, %i): call to_device() first",
				     (int)o->device.type, (int)o->device.id, (int)type, (int)id);
			return 0;
		}
	}
	if (given[COPY] != NULL) {
		int copy = py.PyObject_IsTrue(given[COPY]);
		if (copy < 0) {
			return 0;
		}
		*flags |= copy ? EXPORT_COPY : EXPORT_NO_COPY;
	}
	return 1;
}

PyObject *gpuframe_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
	PyObject *given[ARGUMENTS] = {NULL};
	int64_t stream = 0;
	uint32_t flags = 0;
	if (!arguments(args, nargs, names, given) || !understand(gpuframe_object(self), given, &stream, &flags)) {
		return NULL;
	}
	void *tensor = gpuframe_export(self, stream, flags);
	return tensor == NULL ? NULL : gpuframe_tensor_capsule(tensor, (flags & EXPORT_LEGACY) != 0);
}

int gpuframe_add_protocol(void) {
	for (int i = 0; i < ARGUMENTS; i++) {
		if ((interned[i] = py.PyUnicode_InternFromString(argument_names[i])) == NULL) {
			return -1;
		}
	}
	return 0;
}
