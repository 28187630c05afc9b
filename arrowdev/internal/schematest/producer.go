//go:build cgo && !(386 || arm || mips || mipsle)

package schematest

/*
#include <stdlib.h>
#include "release.h"
*/
import "C"

import (
	"sync/atomic"
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// Producer owns the schemas that it makes until it is closed. One goroutine uses it;
// the schemas may be used anywhere.
type Producer struct {
	pieces []piece
	counts map[*cabi.Schema]*int64
}

type piece struct {
	start  unsafe.Pointer
	length int
}

// allocate returns cleared C memory.
func (p *Producer) allocate(length int) unsafe.Pointer {
	start := C.calloc(1, C.size_t(max(length, 1)))
	p.pieces = append(p.pieces, piece{start, length})
	return start
}

// Bytes returns the address of a copy of bytes in C memory.
func (p *Producer) Bytes(bytes []byte) uintptr {
	start := p.allocate(len(bytes))
	copy(unsafe.Slice((*byte)(start), len(bytes)), bytes)
	return uintptr(start)
}

// Text returns the address of a C string.
func (p *Producer) Text(text string) uintptr { return p.Bytes(append([]byte(text), 0)) }

// Words returns the address of an array of words.
func (p *Producer) Words(words ...uintptr) uintptr {
	start := p.allocate(len(words) * int(unsafe.Sizeof(uintptr(0))))
	copy(unsafe.Slice((*uintptr)(start), len(words)), words)
	return uintptr(start)
}

// Schema makes a schema of a format and children. All its fields may be changed.
func (p *Producer) Schema(format string, children ...*cabi.Schema) *cabi.Schema {
	s := (*cabi.Schema)(p.allocate(int(unsafe.Sizeof(cabi.Schema{}))))
	count := (*int64)(p.allocate(8))
	if p.counts == nil {
		p.counts = map[*cabi.Schema]*int64{}
	}
	p.counts[s] = count
	*s = cabi.Schema{
		Format: p.Text(format), NumChildren: int64(len(children)),
		Release: uintptr(C.schematest_release), Private: uintptr(unsafe.Pointer(count)),
	}
	var words []uintptr
	for _, child := range children {
		words = append(words, uintptr(unsafe.Pointer(child)))
	}
	if len(words) > 0 {
		s.Children = p.Words(words...)
	}
	return s
}

// Child returns a child of one of the schemas.
func Child(s *cabi.Schema, i int) *cabi.Schema {
	return (*cabi.Schema)(address.Pointer(unsafe.Slice((*uintptr)(address.Pointer(s.Children)), s.NumChildren)[i]))
}

// Released returns the number of calls of the schema's release.
func (p *Producer) Released(s *cabi.Schema) int64 { return atomic.LoadInt64(p.counts[s]) }

// ReleasedInAll returns the number of calls of all releases.
func (p *Producer) ReleasedInAll() (count int64) {
	for s := range p.counts {
		count += p.Released(s)
	}
	return count
}

// Scribble overwrites all memory, as another user of the freed memory may.
func (p *Producer) Scribble() {
	for _, piece := range p.pieces {
		bytes := unsafe.Slice((*byte)(piece.start), piece.length)
		for i := range bytes {
			bytes[i] = 0xA5
		}
	}
}

// Close frees all memory.
func (p *Producer) Close() {
	for _, piece := range p.pieces {
		C.free(piece.start)
	}
	*p = Producer{}
}
