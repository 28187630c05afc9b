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

import "unsafe"

// Available says whether this build can exchange tensors.
const Available = true

// Go's view of the structs is C's, or this does not compile.
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

// The addresses of the deleters that exported tensors carry.
var (
	ownDeleter          = uintptr(C.gpuframe_dl_delete)
	ownDeleterVersioned = uintptr(C.gpuframe_dl_delete_versioned)
)

// RunDeleter calls the tensor's deleter, if it has one, on this thread. It is
// given the tensor's only remaining use.
func RunDeleter(tensor *ManagedTensor) {
	C.gpuframe_dl_run_deleter((*C.struct_gpuframe_dl_managed)(unsafe.Pointer(tensor)))
}

// RunDeleterVersioned is [RunDeleter] for the versioned struct.
func RunDeleterVersioned(tensor *ManagedTensorVersioned) {
	C.gpuframe_dl_run_deleter_versioned((*C.struct_gpuframe_dl_managed_versioned)(unsafe.Pointer(tensor)))
}

// gpuframeDLPackDelete is where the deleters of exported tensors arrive, on
// whatever thread the consumer called them.
//
//export gpuframeDLPackDelete
func gpuframeDLPackDelete(context C.uintptr_t) { End(Handle(context)) }

// newRecords returns cleared C memory for count records, or nil.
func newRecords(count int) []Record {
	memory := (*Record)(C.gpuframe_dl_new_records(C.size_t(count)))
	if memory == nil {
		return nil
	}
	return unsafe.Slice(memory, count)
}
