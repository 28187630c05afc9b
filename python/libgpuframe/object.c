//go:build !(386 || arm || mips || mipsle)

#include "object.h"
#include "_cgo_export.h"

/* Where the library's part begins in an object. Python is asked for it, since the
   header before it is longer in builds without the interpreter's lock. */
static Py_ssize_t header;

/* From Python: the functions that raise an error and make a Column. */
static PyObject *raiser, *wrapper, *column_type;

struct object *gpuframe_object(PyObject *self) { return (struct object *)((char *)self + header); }

PyObject *gpuframe_column_type(void) { return column_type; }

PyObject *gpuframe_raise(char *failed) {
	PyObject *text = py.PyUnicode_FromString(failed);
	gpuframe_free(failed);
	if (text != NULL) {
		PyObject *never = py.PyObject_CallFunctionObjArgs(raiser, text, NULL);
		py.Py_DecRef(text);
		if (never != NULL) {
			py.Py_DecRef(never);
		}
	}
	return NULL;
}

int gpuframe_in_child(void) {
	if (gpuframe_forked) {
		py.PyErr_SetString(py.RuntimeError, "gpuframe cannot be used in a forked process: start it with the method \"spawn\"");
	}
	return gpuframe_forked;
}

PyObject *gpuframe_wrap(uint64_t handle) {
	PyObject *number = py.PyLong_FromUnsignedLongLong(handle);
	if (number == NULL) {
		return NULL;
	}
	PyObject *made = py.PyObject_CallFunctionObjArgs(wrapper, number, NULL);
	py.Py_DecRef(number);
	return made;
}

/* Releases the object's handle, with the interpreter's lock given back: the
   release may run a deleter that takes it on another thread. */
static char *let_go(struct object *o) {
	uint64_t handle = o->handle;
	o->handle = 0;
	if (handle == 0 || gpuframe_forked || gpuframe_exiting) {
		return NULL;
	}
	void *thread = py.PyEval_SaveThread();
	char *failed = gpuframe_release(handle);
	py.PyEval_RestoreThread(thread);
	return failed;
}

static void dealloc(PyObject *self) {
	char *failed = let_go(gpuframe_object(self));
	if (failed != NULL) {
		gpuframe_free(failed); /* no caller to report to; Go has logged the error */
	}
	PyObject *type = py.PyObject_Type(self);
	void (*release)(void *) = (void (*)(void *))py.PyType_GetSlot(type, PY_TP_FREE);
	release(self);
	py.Py_DecRef(type);
	py.Py_DecRef(type); /* an object holds a reference to its type */
}

static PyObject *release(PyObject *self, PyObject *ignored) {
	(void)ignored;
	char *failed = let_go(gpuframe_object(self));
	if (failed != NULL) {
		return gpuframe_raise(failed);
	}
	py.Py_IncRef(py.None);
	return py.None;
}

static PyObject *adopt(PyObject *self, PyObject *number) {
	struct object *o = gpuframe_object(self);
	unsigned long long handle = py.PyLong_AsUnsignedLongLong(number);
	if (handle == (unsigned long long)-1 && py.PyErr_Occurred() != NULL) {
		return NULL;
	}
	o->handle = handle;
	gpuframePythonDevice(handle, &o->device.type, &o->device.id);
	py.Py_IncRef(self);
	return self;
}

static PyObject *handle_of(PyObject *self, PyObject *ignored) {
	(void)ignored;
	return py.PyLong_FromUnsignedLongLong(gpuframe_object(self)->handle);
}

static PyObject *dlpack_device(PyObject *self, PyObject *ignored) {
	(void)ignored;
	struct object *o = gpuframe_object(self);
	PyObject *pair = py.PyTuple_New(2);
	if (pair == NULL) {
		return NULL;
	}
	if (py.PyTuple_SetItem(pair, 0, py.PyLong_FromLongLong(o->device.type)) < 0 ||
	    py.PyTuple_SetItem(pair, 1, py.PyLong_FromLongLong(o->device.id)) < 0) {
		py.Py_DecRef(pair);
		return NULL;
	}
	return pair;
}

void *gpuframe_export(PyObject *self, int64_t stream, uint32_t flags) {
	struct object *o = gpuframe_object(self);
	void *tensor = NULL;
	char *failed = NULL;
	if (gpuframe_in_child()) {
		return NULL;
	}
	/* Nothing waits in this call, so that the lock can stay: giving it back would
	   cost a busy program a turn of the interpreter's. */
	int status = gpuframePythonExport(o->handle, stream, flags, &tensor, &failed);
	if (status == EXPORT_WOULD_WAIT) {
		void *thread = py.PyEval_SaveThread();
		status = gpuframePythonExport(o->handle, stream, flags | EXPORT_MAY_WAIT, &tensor, &failed);
		py.PyEval_RestoreThread(thread);
	}
	if (failed != NULL) {
		gpuframe_raise(failed);
		return NULL;
	}
	return tensor;
}

static struct py_method handle_methods[] = {
	{"_adopt", adopt, PY_METH_O, "Take a handle over."},
	{"_handle", handle_of, PY_METH_NOARGS, "Return the handle, or zero after its release."},
	{"_release", release, PY_METH_NOARGS, "Release the object of the handle."},
	{NULL, NULL, 0, NULL},
};

static struct py_method tensor_methods[] = {
	{"__dlpack__", gpuframe_dlpack, PY_METH_FASTCALL | PY_METH_KEYWORDS,
	 "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
	 "Return a capsule of a DLPack tensor that shares the memory.\n\n"
	 "On a GPU stream is the consumer's: None or 1 for the legacy default stream, 2 for the\n"
	 "thread's, a handle, or -1 for no synchronization. Without max_version, or below (1, 0),\n"
	 "the capsule is a legacy one. copy=True makes a copy, copy=False forbids one. With\n"
	 "dl_device=(1, 0) what is on a GPU is copied to the host.\n\n"
	 "A table is a tensor of two dimensions, rows and columns, of columns of one type: their\n"
	 "own memory if they lie at one distance in it, otherwise a copy (see matrix).\n\n"
	 "Raises BufferError for a column that has nulls (see values and validity), for a type\n"
	 "that DLPack does not know, and for another device."},
	{"__dlpack_device__", dlpack_device, PY_METH_NOARGS,
	 "__dlpack_device__($self, /)\n--\n\nReturn (device type, device number) in DLPack's codes."},
	{NULL, NULL, 0, NULL},
};

static struct py_method column_methods[] = {
	{"to", gpuframe_to_library, PY_METH_O,
	 "to($self, tensor_type, /)\n--\n\n"
	 "Return a tensor of another library's type, torch.Tensor for example, without copying.\n\n"
	 "The type must have __dlpack_c_exchange_api__, as torch's does from 2.10 on. The\n"
	 "tensor is ready for the stream that the library works on. This is the fastest way,\n"
	 "because no Python code of either library runs."},
	{NULL, NULL, 0, NULL},
};

static PyObject *new_type(const char *name, struct py_method *methods, PyObject *base) {
	struct py_slot slots[] = {{PY_TP_METHODS, methods}, {PY_TP_DEALLOC, dealloc}, {0, NULL}};
	struct py_spec spec = {name, (int)(header + sizeof(struct object)), 0, PY_TPFLAGS_DEFAULT | PY_TPFLAGS_BASETYPE, slots};
	PyObject *bases = py.PyTuple_New(1);
	if (bases == NULL) {
		return NULL;
	}
	py.Py_IncRef(base);
	py.PyTuple_SetItem(bases, 0, base);
	PyObject *type = py.PyType_FromSpecWithBases(&spec, bases);
	py.Py_DecRef(bases);
	return type;
}

/* gpuframe_python_init makes the library's types and functions and puts them into
   a dict. raise is called with every error, wrap with the handle of every new
   column. It is called with the interpreter's lock held. Returns 0, or -1 with an
   exception where Python is there to raise one. */
__attribute__((visibility("default"))) int gpuframe_python_init(PyObject *names, PyObject *raise, PyObject *wrap) {
	if (gpuframe_find_python() != NULL) {
		return -1;
	}
	PyObject *size = py.PyObject_GetAttrString(py.BaseObject, "__basicsize__");
	if (size == NULL) {
		return -1;
	}
	header = (Py_ssize_t)py.PyLong_AsLongLong(size);
	py.Py_DecRef(size);
	if (gpuframe_add_protocol() < 0) {
		return -1;
	}
	PyObject *handle_type = new_type("gpuframe._Handle", handle_methods, py.BaseObject);
	if (handle_type == NULL) {
		return -1;
	}
	PyObject *tensor_type = new_type("gpuframe._Tensor", tensor_methods, handle_type);
	if (tensor_type == NULL) {
		return -1;
	}
	column_type = new_type("gpuframe._Exchangeable", column_methods, tensor_type);
	if (column_type == NULL) {
		return -1;
	}
	py.Py_IncRef(raise);
	py.Py_IncRef(wrap);
	raiser = raise;
	wrapper = wrap;
	if (py.PyDict_SetItemString(names, "Handle", handle_type) < 0 || py.PyDict_SetItemString(names, "Tensor", tensor_type) < 0 ||
	    py.PyDict_SetItemString(names, "Exchangeable", column_type) < 0) {
		return -1;
	}
	return gpuframe_add_capsules(names) < 0 || gpuframe_add_exchange(names) < 0 ? -1 : 0;
}
