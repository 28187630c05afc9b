//go:build cgo && !(386 || arm || mips || mipsle)

package cabi

/*
#cgo noescape gpuframe_dl_run_deleter
#cgo noescape gpuframe_dl_run_deleter_versioned
#cgo noescape gpuframe_dl_new_records
#cgo nocallback gpuframe_dl_new_records

#include "dlpack_abi.h"
*/
import "C"

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/internal/base/forks"
)

// Available reports whether this build can exchange tensors.
const Available = true

// These lines compile only if Go's structs and C's have the same layout.
var (
	_ [C.sizeof_struct_gpuframe_dl_managed_versioned]byte = [unsafe.Sizeof(ManagedTensorVersioned{})]byte{}
	_ [C.sizeof_struct_gpuframe_dl_managed]byte           = [unsafe.Sizeof(ManagedTensor{})]byte{}
	_ [C.sizeof_struct_gpuframe_dl_record]byte            = [unsafe.Sizeof(Record{})]byte{}

	_ [C.GPUFRAME_DL_DIMENSIONS]byte = [MaximumDimensions]byte{}

	_ [unsafe.Offsetof(C.struct_gpuframe_dl_tensor{}.data_type)]byte   = [unsafe.Offsetof(Tensor{}.DataType)]byte{}
	_ [unsafe.Offsetof(C.struct_gpuframe_dl_tensor{}.shape)]byte       = [unsafe.Offsetof(Tensor{}.Shape)]byte{}
	_ [unsafe.Offsetof(C.struct_gpuframe_dl_tensor{}.strides)]byte     = [unsafe.Offsetof(Tensor{}.Strides)]byte{}
	_ [unsafe.Offsetof(C.struct_gpuframe_dl_tensor{}.byte_offset)]byte = [unsafe.Offsetof(Tensor{}.ByteOffset)]byte{}

	_ [unsafe.Offsetof(C.struct_gpuframe_dl_managed_versioned{}.deleter)]byte = [unsafe.Offsetof(ManagedTensorVersioned{}.Deleter)]byte{}
	_ [unsafe.Offsetof(C.struct_gpuframe_dl_managed_versioned{}.tensor)]byte  = [unsafe.Offsetof(ManagedTensorVersioned{}.Tensor)]byte{}
)

// These are the addresses of the deleters of exported tensors.
var (
	ownDeleter          = uintptr(C.gpuframe_dl_delete)
	ownDeleterVersioned = uintptr(C.gpuframe_dl_delete_versioned)
)

// RunDeleter calls the tensor's deleter, if it has one, on this thread. The caller
// must not use the tensor afterwards.
func RunDeleter(tensor *ManagedTensor) {
	C.gpuframe_dl_run_deleter((*C.struct_gpuframe_dl_managed)(unsafe.Pointer(tensor)))
}

// RunDeleterVersioned is [RunDeleter] for the versioned struct.
func RunDeleterVersioned(tensor *ManagedTensorVersioned) {
	C.gpuframe_dl_run_deleter_versioned((*C.struct_gpuframe_dl_managed_versioned)(unsafe.Pointer(tensor)))
}

// gpuframeDLPackDelete is called by the deleters of exported tensors, on any thread.
//
//export gpuframeDLPackDelete
func gpuframeDLPackDelete(context C.uintptr_t) { End(Handle(context)) }

// newRecords returns cleared C memory for count records, or nil.
func newRecords(count int) []Record {
	flag := forks.Watch()
	if flag == nil {
		return nil
	}
	C.gpuframe_dl_watch((*C.int)(flag))
	memory := (*Record)(C.gpuframe_dl_new_records(C.size_t(count)))
	if memory == nil {
		return nil
	}
	return unsafe.Slice(memory, count)
}
