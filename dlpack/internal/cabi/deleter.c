//go:build !(386 || arm || mips || mipsle)

#include <stdlib.h>

#include "fork.h"
#include "_cgo_export.h"

void gpuframe_dl_delete(struct gpuframe_dl_managed *self) {
	if (self != NULL && !gpuframe_dl_forked) {
		gpuframeDLPackDelete(self->context);
	}
}

void gpuframe_dl_delete_versioned(struct gpuframe_dl_managed_versioned *self) {
	if (self != NULL && !gpuframe_dl_forked) {
		gpuframeDLPackDelete(self->context);
	}
}

void *gpuframe_dl_new_records(size_t count) {
	return gpuframe_dl_watch_forks() ? calloc(count, sizeof(struct gpuframe_dl_record)) : NULL;
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
