//go:build cgo && !(386 || arm || mips || mipsle)

package cabi

/*
#cgo noescape gpuframe_arrow_tree_begin
#cgo nocallback gpuframe_arrow_tree_begin
#cgo nocallback gpuframe_arrow_tree_drop
#cgo nocallback gpuframe_arrow_tree_owner

#include "tree.h"
*/
import "C"

import "unsafe"

// Available reports whether this build can exchange arrays.
const Available = true

// These fail to compile if Go's layout of the structs differs from C's.
var (
	_ [C.sizeof_struct_gpuframe_arrow_schema]byte         = [unsafe.Sizeof(Schema{})]byte{}
	_ [C.sizeof_struct_gpuframe_arrow_array]byte          = [unsafe.Sizeof(Array{})]byte{}
	_ [C.sizeof_struct_gpuframe_arrow_device_array]byte   = [unsafe.Sizeof(DeviceArray{})]byte{}
	_ [C.sizeof_struct_gpuframe_arrow_stream]byte         = [unsafe.Sizeof(Stream{})]byte{}
	_ [C.sizeof_struct_gpuframe_arrow_device_stream]byte  = [unsafe.Sizeof(DeviceStream{})]byte{}
	_ [C.sizeof_struct_gpuframe_arrow_async_task]byte     = [unsafe.Sizeof(AsyncTask{})]byte{}
	_ [C.sizeof_struct_gpuframe_arrow_async_producer]byte = [unsafe.Sizeof(AsyncProducer{})]byte{}
	_ [C.sizeof_struct_gpuframe_arrow_async_handler]byte  = [unsafe.Sizeof(AsyncHandler{})]byte{}

	_ [unsafe.Offsetof(C.struct_gpuframe_arrow_schema{}.release)]byte               = [unsafe.Offsetof(Schema{}.Release)]byte{}
	_ [unsafe.Offsetof(C.struct_gpuframe_arrow_array{}.release)]byte                = [unsafe.Offsetof(Array{}.Release)]byte{}
	_ [unsafe.Offsetof(C.struct_gpuframe_arrow_device_array{}.device_type)]byte     = [unsafe.Offsetof(DeviceArray{}.DeviceType)]byte{}
	_ [unsafe.Offsetof(C.struct_gpuframe_arrow_device_array{}.sync_event)]byte      = [unsafe.Offsetof(DeviceArray{}.SyncEvent)]byte{}
	_ [unsafe.Offsetof(C.struct_gpuframe_arrow_device_stream{}.get_last_error)]byte = [unsafe.Offsetof(DeviceStream{}.GetLastError)]byte{}
)

// The addresses of the release callbacks of exported structs.
var (
	ownSchemaRelease = uintptr(C.gpuframe_arrow_own_schema)
	ownArrayRelease  = uintptr(C.gpuframe_arrow_own_array)
)

// ReleaseSchema calls the release of any library on this thread, unless the schema is
// released or nil.
func ReleaseSchema(schema *Schema) {
	if schema != nil && schema.Release != 0 {
		C.gpuframe_arrow_release_schema((*C.struct_gpuframe_arrow_schema)(unsafe.Pointer(schema)))
	}
}

// ReleaseArray calls the release of any library on this thread, unless the array is
// released or nil.
func ReleaseArray(array *Array) {
	if array != nil && array.Release != 0 {
		C.gpuframe_arrow_release_array((*C.struct_gpuframe_arrow_array)(unsafe.Pointer(array)))
	}
}

//export gpuframeArrowTreeEnded
func gpuframeArrowTreeEnded(owner C.uint64_t) { treeEnded(uint64(owner)) }

func beginTree(bytes uintptr, nodes int, owner uint64) (name uint64, memory unsafe.Pointer) {
	if !watchForks() {
		return 0, nil
	}
	var at unsafe.Pointer
	tree := C.gpuframe_arrow_tree_begin(C.size_t(bytes), C.uint32_t(nodes), C.uint64_t(owner), &at)
	return uint64(tree), at
}

func dropTree(name uint64) { C.gpuframe_arrow_tree_drop(C.uint64_t(name)) }

func treeOwner(node uint64) uint64 { return uint64(C.gpuframe_arrow_tree_owner(C.uint64_t(node))) }
