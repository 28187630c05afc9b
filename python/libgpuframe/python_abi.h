/* The part of Python's stable ABI that the library uses, found at run time in the
   process that has loaded it. */
#ifndef GPUFRAME_PYTHON_ABI_H
#define GPUFRAME_PYTHON_ABI_H

#include "native.h"

typedef struct python_object PyObject;
typedef ptrdiff_t Py_ssize_t;

struct py_method {
	const char *name;
	void *function;
	int flags;
	const char *doc;
};
struct py_slot {
	int slot;
	void *value;
};
struct py_spec {
	const char *name;
	int basicsize, itemsize;
	unsigned int flags;
	struct py_slot *slots;
};

enum { PY_METH_NOARGS = 4, PY_METH_O = 8, PY_METH_FASTCALL = 0x80, PY_METH_KEYWORDS = 2 };
enum { PY_TP_DEALLOC = 52, PY_TP_DOC = 56, PY_TP_METHODS = 64, PY_TP_FREE = 74 };
/* HAVE_VERSION_TAG is part of the default flags before Python 3.12 and means
   nothing later. */
enum { PY_TPFLAGS_BASETYPE = 1 << 10, PY_TPFLAGS_DEFAULT = 1 << 18 };

#define PY_FUNCTIONS(X) \
	X(PyObject *, PyCapsule_New, (void *, const char *, void (*)(PyObject *))) \
	X(void *, PyCapsule_GetPointer, (PyObject *, const char *)) \
	X(int, PyCapsule_IsValid, (PyObject *, const char *)) \
	X(int, PyCapsule_SetName, (PyObject *, const char *)) \
	X(void *, PyEval_SaveThread, (void)) \
	X(void, PyEval_RestoreThread, (void *)) \
	X(long long, PyLong_AsLongLong, (PyObject *)) \
	X(PyObject *, PyLong_FromLongLong, (long long)) \
	X(unsigned long long, PyLong_AsUnsignedLongLong, (PyObject *)) \
	X(PyObject *, PyLong_FromUnsignedLongLong, (unsigned long long)) \
	X(PyObject *, PyTuple_New, (Py_ssize_t)) \
	X(int, PyTuple_SetItem, (PyObject *, Py_ssize_t, PyObject *)) \
	X(PyObject *, PyTuple_GetItem, (PyObject *, Py_ssize_t)) \
	X(Py_ssize_t, PyTuple_Size, (PyObject *)) \
	X(PyObject *, PySequence_GetItem, (PyObject *, Py_ssize_t)) \
	X(Py_ssize_t, PySequence_Size, (PyObject *)) \
	X(PyObject *, PyUnicode_InternFromString, (const char *)) \
	X(PyObject *, PyUnicode_FromString, (const char *)) \
	X(const char *, PyBytes_AsString, (PyObject *)) \
	X(int, PyUnicode_CompareWithASCIIString, (PyObject *, const char *)) \
	X(void, PyErr_SetString, (PyObject *, const char *)) \
	X(PyObject *, PyErr_Format, (PyObject *, const char *, ...)) \
	X(PyObject *, PyErr_Occurred, (void)) \
	X(void, PyErr_Clear, (void)) \
	X(PyObject *, PyType_FromSpecWithBases, (struct py_spec *, PyObject *)) \
	X(void *, PyType_GetSlot, (PyObject *, int)) \
	X(PyObject *, PyObject_Type, (PyObject *)) \
	X(int, PyObject_IsTrue, (PyObject *)) \
	X(int, PyObject_IsInstance, (PyObject *, PyObject *)) \
	X(PyObject *, PyObject_GetAttr, (PyObject *, PyObject *)) \
	X(PyObject *, PyObject_GetAttrString, (PyObject *, const char *)) \
	X(int, PyObject_SetAttrString, (PyObject *, const char *, PyObject *)) \
	X(PyObject *, PyObject_CallFunctionObjArgs, (PyObject *, ...)) \
	X(PyObject *, PyCFunction_NewEx, (struct py_method *, PyObject *, PyObject *)) \
	X(int, PyDict_SetItemString, (PyObject *, const char *, PyObject *)) \
	X(int, PyGILState_Ensure, (void)) \
	X(void, PyGILState_Release, (int)) \
	X(int, Py_IsInitialized, (void)) \
	X(void, Py_IncRef, (PyObject *)) \
	X(void, Py_DecRef, (PyObject *))

struct python {
#define PY_MEMBER(result, name, arguments) result(*name) arguments;
	PY_FUNCTIONS(PY_MEMBER)
#undef PY_MEMBER
	PyObject *None;
	PyObject *BaseObject;
	PyObject *BufferError, *TypeError, *ValueError, *RuntimeError;
};

extern GPUFRAME_PRIVATE struct python py;

/* Finds everything, once. Returns the name of what is missing, or NULL. */
GPUFRAME_PRIVATE const char *gpuframe_find_python(void);

/* Set in a child process that was forked: Go does not live on there. */
extern GPUFRAME_PRIVATE volatile int gpuframe_forked;

/* Set when the interpreter begins to end. What its objects hold is not released
   any more then: a deleter could run code that is gone already, and the memory
   goes with the process anyway. */
extern GPUFRAME_PRIVATE volatile int gpuframe_exiting;

#endif
