//go:build !(386 || arm || mips || mipsle)

#include <stdlib.h>

#include "_cgo_export.h"

/* The flag of internal/base/forks. Before it is watched, no tensor is exported. */
static const volatile int never;
static const volatile int *forked = &never;

void gpuframe_dl_watch(const volatile int *flag) { forked = flag; }

void gpuframe_dl_delete(struct gpuframe_dl_managed *self) {
	if (self != NULL && !*forked) {
		gpuframeDLPackDelete(self->context);
	}
}

void gpuframe_dl_delete_versioned(struct gpuframe_dl_managed_versioned *self) {
	if (self != NULL && !*forked) {
		gpuframeDLPackDelete(self->context);
	}
}

void *gpuframe_dl_new_records(size_t count) {
	return calloc(count, sizeof(struct gpuframe_dl_record));
}

void gpuframe_dl_run_deleter(struct gpuframe_dl_managed *tensor) {
	if (tensor->deleter != NULL) {
		tensor->deleter(tensor);
	}
}

void gpuframe_dl_run_deleter_versioned(struct gpuframe_dl_managed_versioned *tensor) {
	if (tensor->deleter != NULL) {
		tensor->deleter(tensor);
	}
}
