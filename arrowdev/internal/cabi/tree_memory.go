//go:build cgo && !(386 || arm || mips || mipsle)

package cabi

/*
#cgo noescape gpuframe_arrow_tree_memory
#cgo nocallback gpuframe_arrow_tree_memory

#include "tree.h"
*/
import "C"

import "unsafe"

// treeMemory returns the memory of the tree that contains a node, and the tree's owner,
// or nil if the tree has ended.
func treeMemory(node uint64) (memory unsafe.Pointer, owner uint64) {
	var number C.uint64_t
	memory = C.gpuframe_arrow_tree_memory(C.uint64_t(node), &number)
	return memory, uint64(number)
}
