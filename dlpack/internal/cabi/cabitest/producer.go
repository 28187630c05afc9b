//go:build cgo && unix && !(386 || arm || mips || mipsle)

package cabitest

/*
#include <stdlib.h>
#include "producer.h"
*/
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

// Producer is another library's tensor: both structs over the same memory, with
// deleters that count their calls. Its fields are in C memory and may be changed.
type Producer struct {
	c         *C.struct_producer
	Versioned *cabi.ManagedTensorVersioned
	Legacy    *cabi.ManagedTensor
	// Shape and Strides are the arrays that the tensors' fields point to.
	Shape, Strides []int64
}

// NewProducer returns a tensor in both structs. The caller frees it.
func NewProducer(tensor cabi.Tensor, shape, strides []int64) *Producer {
	c := C.producer_new()
	if c == nil {
		panic("cabitest: out of memory")
	}
	p := &Producer{
		c:         c,
		Versioned: (*cabi.ManagedTensorVersioned)(unsafe.Pointer(&c.versioned)),
		Legacy:    (*cabi.ManagedTensor)(unsafe.Pointer(&c.legacy)),
		Shape:     unsafe.Slice((*int64)(unsafe.Pointer(&c.shape)), len(c.shape)),
		Strides:   unsafe.Slice((*int64)(unsafe.Pointer(&c.strides)), len(c.strides)),
	}
	p.Versioned.Version = cabi.Version{Major: cabi.MajorVersion, Minor: cabi.MinorVersion}
	tensor.NDim = int32(len(shape))
	if shape != nil {
		copy(p.Shape, shape)
		tensor.Shape = uintptr(unsafe.Pointer(&c.shape))
	}
	if strides != nil {
		copy(p.Strides, strides)
		tensor.Strides = uintptr(unsafe.Pointer(&c.strides))
	}
	p.Versioned.Tensor, p.Legacy.Tensor = tensor, tensor
	return p
}

// Of makes the first call of the producer's deleter run the deleter of source, the
// tensor that this one was made of.
func (p *Producer) Of(source unsafe.Pointer) {
	p.c.source = (*C.struct_gpuframe_dl_managed_versioned)(source)
}

// WithoutDeleter sets the deleters to NULL.
func (p *Producer) WithoutDeleter() { C.producer_no_deleter(p.c) }

// Deleted returns the number of calls of the deleters. It waits for calls that were deferred
// until the producer's work is done.
func (p *Producer) Deleted() int {
	streamwork.AwaitAllDone()
	return p.DeletedSoFar()
}

// DeletedSoFar is Deleted that does not wait for deferred calls.
func (p *Producer) DeletedSoFar() int { return int(C.producer_deleted(p.c)) }

// Free frees the structs.
func (p *Producer) Free() {
	streamwork.AwaitAllDone()
	C.free(unsafe.Pointer(p.c))
}

// Allocate returns zeroed C memory, aligned for every element.
func Allocate(bytes int) unsafe.Pointer { return C.calloc(1, C.size_t(max(bytes, 1))) }

// Free frees memory of Allocate.
func Free(memory unsafe.Pointer) { C.free(memory) }

// Delete calls a tensor's deleter from C.
func Delete(tensor unsafe.Pointer, legacy bool) { C.consumer_delete(tensor, flag(legacy)) }

// DeleteOnThread calls a tensor's deleter on a new thread and waits for it.
func DeleteOnThread(tensor unsafe.Pointer, legacy bool) error {
	if failed := C.consumer_delete_on_thread(tensor, flag(legacy)); failed != 0 {
		return fmt.Errorf("cabitest: start or join a thread: %w", syscall.Errno(failed))
	}
	return nil
}

// DeleteInChild calls a tensor's deleter in a forked child. It returns an error if
// the child did not exit normally.
func DeleteInChild(tensor unsafe.Pointer, legacy bool) error {
	status := syscall.WaitStatus(C.consumer_delete_in_child(tensor, flag(legacy)))
	if status != 0 {
		return fmt.Errorf("cabitest: the child ended with code %d, signal %v", status.ExitStatus(), status.Signal())
	}
	return nil
}

func flag(set bool) C.int {
	if set {
		return 1
	}
	return 0
}
