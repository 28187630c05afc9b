//go:build cgo && unix && !(386 || arm || mips || mipsle)

package producertest

/*
#include <stdlib.h>
#include "producer.h"
*/
import "C"

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

// Producer is another library's array. Its structs are in C memory and may be set to
// any values until they are handed out.
type Producer struct {
	Device *cabi.DeviceArray
	c      *C.struct_producer
	memory []unsafe.Pointer
}

// rootMark is a bit of the root's private_data. The address there leaves the bit
// unused.
const rootMark = C.PRODUCER_ROOT

// New returns an array without a type: all fields of its struct except the release are
// zero. The caller frees it.
func New() *Producer {
	p := &Producer{}
	p.c = (*C.struct_producer)(p.Allocate(int(C.sizeof_struct_producer)))
	p.Device = (*cabi.DeviceArray)(p.Allocate(int(unsafe.Sizeof(cabi.DeviceArray{}))))
	p.Own(&p.Device.Array)
	p.Device.Array.Private |= rootMark
	return p
}

// Disguise moves an array into a new one with equal contents, other structs and another
// release, which releases the source.
func Disguise(source *cabi.DeviceArray) *Producer {
	p := &Producer{}
	p.c = (*C.struct_producer)(p.Allocate(int(C.sizeof_struct_producer)))
	p.Device = (*cabi.DeviceArray)(p.Allocate(int(unsafe.Sizeof(cabi.DeviceArray{}))))
	*p.Device = *source
	p.copyInto(&p.Device.Array, &source.Array)
	p.Device.Array.Private |= rootMark
	*(*cabi.Array)(unsafe.Pointer(&p.c.source)) = source.Array
	source.Array.Release = 0
	return p
}

// Abandon releases the source of the array immediately.
func (p *Producer) Abandon() {
	source := (*cabi.Array)(unsafe.Pointer(&p.c.source))
	cabi.ReleaseArray(source)
	source.Release = 0
}

// Keep makes the root's release only count, so that copies of the root can be handed
// out repeatedly.
func (p *Producer) Keep() { p.c.keep = 1 }

// copyInto writes a deep copy of the structs.
func (p *Producer) copyInto(to, from *cabi.Array) {
	*to = *from
	p.Own(to)
	to.Buffers = p.Words(words(from.Buffers, from.NumBuffers))
	children := words(from.Children, from.NumChildren)
	copies := make([]uintptr, len(children))
	for i, child := range children {
		copies[i] = p.copy(child)
	}
	if to.Children = 0; len(copies) > 0 {
		to.Children = p.Words(copies)
	}
	if from.Dictionary != 0 {
		to.Dictionary = p.copy(from.Dictionary)
	}
}

func (p *Producer) copy(from uintptr) uintptr {
	copied := p.NewArray()
	p.copyInto(copied, (*cabi.Array)(address.Pointer(from)))
	return uintptr(unsafe.Pointer(copied))
}

func words(at uintptr, count int64) []uintptr {
	if at == 0 {
		return nil
	}
	return unsafe.Slice((*uintptr)(address.Pointer(at)), count)
}

// Own gives a struct the producer's release.
func (p *Producer) Own(array *cabi.Array) {
	below := array
	if array == &p.Device.Array {
		below = nil
	}
	C.producer_add(p.c, (*C.struct_gpuframe_arrow_array)(unsafe.Pointer(below)))
	array.Release, array.Private = uintptr(C.producer_release), uintptr(unsafe.Pointer(p.c))
}

// NewArray returns a cleared struct without a release.
func (p *Producer) NewArray() *cabi.Array {
	return (*cabi.Array)(p.Allocate(int(unsafe.Sizeof(cabi.Array{}))))
}

// Words returns the address of a copy of the words.
func (p *Producer) Words(values []uintptr) uintptr {
	memory := p.Allocate(8 * len(values))
	copy(unsafe.Slice((*uintptr)(memory), len(values)), values)
	return uintptr(memory)
}

// Allocate returns cleared C memory that lives until the producer is freed.
func (p *Producer) Allocate(bytes int) unsafe.Pointer {
	memory := C.calloc(1, C.size_t(max(bytes, 1)))
	p.memory = append(p.memory, memory)
	return memory
}

// Releases returns the number of calls of releases. Like the other counts it waits for
// releases that were deferred until the producer's work is done.
func (p *Producer) Releases() int {
	streamwork.AwaitAllDone()
	return int(C.producer_releases(p.c))
}

// RootReleases returns the number of releases of the root struct.
func (p *Producer) RootReleases() int {
	streamwork.AwaitAllDone()
	return int(C.producer_root_releases(p.c))
}

// Live returns the number of structs that are not released.
func (p *Producer) Live() int {
	streamwork.AwaitAllDone()
	return int(C.producer_live(p.c))
}

// Ended returns how often the last struct was released; it must be once.
func (p *Producer) Ended() int {
	streamwork.AwaitAllDone()
	return p.EndedSoFar()
}

// EndedSoFar is Ended that does not wait for deferred releases.
func (p *Producer) EndedSoFar() int { return int(C.producer_ended(p.c)) }

// Free gives the structs back.
func (p *Producer) Free() {
	streamwork.AwaitAllDone()
	for _, memory := range p.memory {
		C.free(memory)
	}
	p.memory = nil
}
