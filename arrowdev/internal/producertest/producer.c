//go:build unix && !(386 || arm || mips || mipsle)

#include <stdatomic.h>

#include "producer.h"

static void release_unless_released(struct gpuframe_arrow_array *array) {
	if (array != NULL && array->release != NULL) {
		array->release(array);
	}
}

void producer_release(struct gpuframe_arrow_array *self) {
	struct producer *p = (struct producer *)(self->private_data & ~(uintptr_t)PRODUCER_ROOT);
	atomic_fetch_add(&p->releases, 1);
	if (self->private_data & PRODUCER_ROOT) {
		atomic_fetch_add(&p->root_releases, 1);
		if (p->keep) {
			self->release = NULL;
			return;
		}
		for (int i = 0; i < p->nodes; i++) {
			if (p->node[i]->release == producer_release) {
				p->node[i]->release = NULL;
				atomic_fetch_sub(&p->live, 1);
			}
		}
	} else {
		struct gpuframe_arrow_array **children = (struct gpuframe_arrow_array **)self->children;
		for (int64_t i = 0; children != NULL && i < self->n_children; i++) {
			release_unless_released(children[i]);
		}
		release_unless_released((struct gpuframe_arrow_array *)self->dictionary);
	}
	self->release = NULL;
	if (atomic_fetch_sub(&p->live, 1) == 1) {
		atomic_fetch_add(&p->ended, 1);
		release_unless_released(&p->source);
	}
}

int producer_releases(struct producer *p) { return atomic_load(&p->releases); }
int producer_root_releases(struct producer *p) { return atomic_load(&p->root_releases); }
int producer_ended(struct producer *p) { return atomic_load(&p->ended); }
int producer_live(struct producer *p) { return atomic_load(&p->live); }

void producer_add(struct producer *p, struct gpuframe_arrow_array *below) {
	atomic_fetch_add(&p->live, 1);
	if (below != NULL && p->nodes < PRODUCER_NODES) {
		p->node[p->nodes++] = below;
	}
}
