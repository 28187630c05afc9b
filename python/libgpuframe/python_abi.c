//go:build !(386 || arm || mips || mipsle)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "python_abi.h"

struct python py;
volatile int gpuframe_forked, gpuframe_exiting;

static void in_child(void) { gpuframe_forked = 1; }

static void *find(const char *name, const char **missing) {
	void *found = dlsym(RTLD_DEFAULT, name);
	if (found == NULL) {
		*missing = name;
	}
	return found;
}

/* An exception is a variable that holds the object. */
static PyObject *exception(const char *name, const char **missing) {
	PyObject **found = find(name, missing);
	return found == NULL ? NULL : *found;
}

const char *gpuframe_find_python(void) {
	const char *missing = NULL;
	if (py.None != NULL) {
		return NULL;
	}
#define PY_FIND(result, name, arguments) py.name = (result(*) arguments)find(#name, &missing);
	PY_FUNCTIONS(PY_FIND)
#undef PY_FIND
	py.BaseObject = find("PyBaseObject_Type", &missing);
	py.BufferError = exception("PyExc_BufferError", &missing);
	py.TypeError = exception("PyExc_TypeError", &missing);
	py.ValueError = exception("PyExc_ValueError", &missing);
	py.RuntimeError = exception("PyExc_RuntimeError", &missing);
	PyObject *none = find("_Py_NoneStruct", &missing);
	if (missing == NULL) {
		pthread_atfork(NULL, NULL, in_child);
		py.None = none;
	}
	return missing;
}
