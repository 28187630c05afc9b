package arrowdev

import (
	"runtime"
	"sync"
	"unsafe"
	"weak"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// These bounds limit the cache of written schemas. A schema that takes more than a
// fraction of the bytes is written again each time.
const (
	maximumWritten      = 1024
	maximumWrittenBytes = 8 << 20
	maximumWrittenPart  = maximumWrittenBytes / 8
)

// written caches the written form of exported schemas: schemas do not change, and
// programs export the same few repeatedly. An entry is removed with its schema, or
// evicted for another.
var written = writtenSchemas{byAddress: map[uintptr]*writtenSchema{}, byMark: map[uint64]*writtenSchema{}}

type writtenSchemas struct {
	mu        sync.RWMutex
	byAddress map[uintptr]*writtenSchema
	byMark    map[uint64]*writtenSchema
	bytes     int
	last      uint64
}

type writtenSchema struct {
	image *cabi.Image
	// mark identifies the trees of the schema. It is never reused.
	mark    uint64
	address uintptr
	schema  weak.Pointer[arrow.Schema]
	// value is a copy of the schema's struct, because a caller may have assigned
	// another schema to it.
	value   arrow.Schema
	cleanup runtime.Cleanup
}

// lookUp returns the cached entry of a schema, or nil.
func (w *writtenSchemas) lookUp(schema *arrow.Schema) *writtenSchema {
	w.mu.RLock()
	known := w.byAddress[uintptr(unsafe.Pointer(schema))]
	w.mu.RUnlock()
	if known == nil || known.whole() != schema {
		return nil
	}
	return known
}

// marked returns the schema and the image that a mark belongs to, if they are still
// cached.
func (w *writtenSchemas) marked(mark uint64) (*arrow.Schema, *cabi.Image) {
	if mark == 0 {
		return nil, nil
	}
	w.mu.RLock()
	known := w.byMark[mark]
	w.mu.RUnlock()
	if known == nil {
		return nil, nil
	}
	return known.whole(), known.image
}

// whole returns the schema, or nil if it was collected or changed.
func (k *writtenSchema) whole() *arrow.Schema {
	schema := k.schema.Value()
	if schema == nil || *bitsOf(schema) != *bitsOf(&k.value) {
		return nil
	}
	return schema
}

// bitsOf returns the words of a schema. Equal words refer to the same fields.
func bitsOf(schema *arrow.Schema) *[unsafe.Sizeof(arrow.Schema{})]byte {
	return (*[unsafe.Sizeof(arrow.Schema{})]byte)(unsafe.Pointer(schema))
}

// keep caches a schema's image and returns its mark, or zero if the image is too
// large.
func (w *writtenSchemas) keep(schema *arrow.Schema, image *cabi.Image) uint64 {
	if image.Bytes() > maximumWrittenPart {
		return 0
	}
	address := uintptr(unsafe.Pointer(schema))
	k := &writtenSchema{image: image, address: address, schema: weak.Make(schema), value: *schema}
	w.mu.Lock()
	defer w.mu.Unlock()
	if old := w.byAddress[address]; old != nil {
		if old.whole() == schema {
			return old.mark // another goroutine has stored it first
		}
		w.remove(old)
	}
	for _, other := range w.byAddress {
		if len(w.byAddress) < maximumWritten && w.bytes+image.Bytes() <= maximumWrittenBytes {
			break
		}
		w.remove(other)
	}
	w.last++
	k.mark = w.last
	// The cleanup holds the mark, not the entry, so that an evicted entry can be
	// collected.
	k.cleanup = runtime.AddCleanup(schema, w.forget, k.mark)
	w.byAddress[address], w.byMark[k.mark] = k, k
	w.bytes += image.Bytes()
	return k.mark
}

// forget removes a collected schema.
func (w *writtenSchemas) forget(mark uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.byMark[mark]; known != nil {
		w.remove(known)
	}
}

func (w *writtenSchemas) remove(k *writtenSchema) {
	k.cleanup.Stop()
	delete(w.byAddress, k.address)
	delete(w.byMark, k.mark)
	w.bytes -= k.image.Bytes()
}

// recogniseSchema returns the schema that an unaltered struct of gpuframe was written
// from, or nil.
func recogniseSchema(s *cabi.Schema) *arrow.Schema {
	origin := s.Origin()
	schema, image := written.marked(origin.Mark)
	if schema == nil || !image.WroteTo(s, origin) {
		return nil
	}
	return schema
}
