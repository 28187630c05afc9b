#ifndef GPUFRAME_ARROW_TREE_H
#define GPUFRAME_ARROW_TREE_H

#include "arrow_abi.h"

/* Begin a tree of exported structs in cleared memory of the given bytes, with a
   number of nodes, each of which will be released once. Returns the tree's name,
   never zero, and its memory; zero if C has no memory. gpuframeArrowTreeEnded
   notifies the owner, unless it is zero or has GPUFRAME_ARROW_MARK set: then it is
   only a number that identifies the tree. */
#define GPUFRAME_ARROW_MARK ((uint64_t)1 << 63)
GPUFRAME_PRIVATE uint64_t gpuframe_arrow_tree_begin(size_t bytes, uint32_t nodes, uint64_t owner, void **memory);

/* End a tree that was not handed out, without notifying the owner. */
GPUFRAME_PRIVATE void gpuframe_arrow_tree_drop(uint64_t tree);

/* The owner of the tree that contains a node; zero if the tree has ended. */
GPUFRAME_PRIVATE uint64_t gpuframe_arrow_tree_owner(uint64_t node);

/* The memory of the tree that contains a node, and its owner; NULL if the tree has
   ended. */
GPUFRAME_PRIVATE void *gpuframe_arrow_tree_memory(uint64_t node, uint64_t *owner);

/* The release callbacks of nodes. */
GPUFRAME_PRIVATE void gpuframe_arrow_own_schema(struct gpuframe_arrow_schema *self);
GPUFRAME_PRIVATE void gpuframe_arrow_own_array(struct gpuframe_arrow_array *self);

/* Release any library's struct unless it is released. */
GPUFRAME_PRIVATE void gpuframe_arrow_release_schema(struct gpuframe_arrow_schema *schema);
GPUFRAME_PRIVATE void gpuframe_arrow_release_array(struct gpuframe_arrow_array *array);

#endif
