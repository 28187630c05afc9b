#ifndef GPUFRAME_ARROW_TREE_H
#define GPUFRAME_ARROW_TREE_H

#include "arrow_abi.h"

/* Begin a tree of exported structs in cleared memory of the given bytes, with a
   number of nodes of which each will be released once. Returns the tree's name,
   never zero, and where its memory is; zero where there is no memory. The owner
   is told by gpuframeArrowTreeEnded, unless it is zero or has GPUFRAME_ARROW_MARK
   set, which says that it is no owner but a number to know the tree by. */
#define GPUFRAME_ARROW_MARK ((uint64_t)1 << 63)
GPUFRAME_PRIVATE uint64_t gpuframe_arrow_tree_begin(size_t bytes, uint32_t nodes, uint64_t owner, void **memory);

/* End a tree that nobody was given. The owner is not told. */
GPUFRAME_PRIVATE void gpuframe_arrow_tree_drop(uint64_t tree);

/* The owner of the tree that a node belongs to; zero where it has ended. */
GPUFRAME_PRIVATE uint64_t gpuframe_arrow_tree_owner(uint64_t node);

/* The memory of the tree that a node belongs to, and its owner; NULL where it has
   ended. */
GPUFRAME_PRIVATE void *gpuframe_arrow_tree_memory(uint64_t node, uint64_t *owner);

/* What nodes carry as their release. */
GPUFRAME_PRIVATE void gpuframe_arrow_own_schema(struct gpuframe_arrow_schema *self);
GPUFRAME_PRIVATE void gpuframe_arrow_own_array(struct gpuframe_arrow_array *self);

/* Release anybody's struct unless it is released. */
GPUFRAME_PRIVATE void gpuframe_arrow_release_schema(struct gpuframe_arrow_schema *schema);
GPUFRAME_PRIVATE void gpuframe_arrow_release_array(struct gpuframe_arrow_array *array);

#endif
