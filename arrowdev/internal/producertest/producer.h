#ifndef GPUFRAME_PRODUCERTEST_H
#define GPUFRAME_PRODUCERTEST_H

#include "../cabi/arrow_abi.h"

/* Set in the private_data of the root struct. */
#define PRODUCER_ROOT 1

#define PRODUCER_NODES 512

/* The shared state of the structs of one array. */
struct producer {
	_Atomic int live;     /* structs that are not released yet */
	_Atomic int releases; /* calls of releases */
	_Atomic int root_releases;
	_Atomic int ended;    /* how often the last struct was released */
	int keep; /* the root's release only counts */
	/* The structs below the root. Its release finds them here, even if a test has
	   changed the root's fields. */
	int nodes;
	struct gpuframe_arrow_array *node[PRODUCER_NODES];
	/* The source of the array; released with the last struct. */
	struct gpuframe_arrow_array source;
};

/* The release of every struct. It follows the standard, and counts. */
void producer_release(struct gpuframe_arrow_array *self);

int producer_releases(struct producer *p);
int producer_root_releases(struct producer *p);
int producer_ended(struct producer *p);
int producer_live(struct producer *p);
void producer_add(struct producer *p, struct gpuframe_arrow_array *below);

#endif
