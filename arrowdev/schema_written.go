package arrowdev

import (
	"runtime"
	"sync"
	"unsafe"
	"weak"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// Bounds of what is remembered of schemas. A schema of more than a part of the
// bytes is made anew each time.
const (
	maximumWritten      = 1024
	maximumWrittenBytes = 8 << 20
	maximumWrittenPart  = maximumWrittenBytes / 8
)

// written remembers how exported schemas are written: they cannot be changed, and
// the same few are exported over and over. An entry goes with its schema, or makes
// room for another.
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
	// mark is what trees of the schema are known by. It is not used again.
	mark    uint64
	address uintptr
	schema  weak.Pointer[arrow.Schema]
	// value is the schema's own struct. Somebody may have assigned another to it.
	value   arrow.Schema
	cleanup runtime.Cleanup
}

// of returns what is known of a schema, or nil.
func (w *writtenSchemas) of(schema *arrow.Schema) *writtenSchema {
	w.mu.RLock()
	known := w.byAddress[uintptr(unsafe.Pointer(schema))]
	w.mu.RUnlock()
	if known == nil || known.whole() != schema {
		return nil
	}
	return known
}

// marked returns the schema that a mark is of, and how it is written, if it is
// still there.
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

// whole returns the schema, or nil where it is gone or has become another.
func (k *writtenSchema) whole() *arrow.Schema {
	schema := k.schema.Value()
	if schema == nil || *bitsOf(schema) != *bitsOf(&k.value) {
		return nil
	}
	return schema
}

// bitsOf are a schema's words: the same ones refer to the same fields.
func bitsOf(schema *arrow.Schema) *[unsafe.Sizeof(arrow.Schema{})]byte {
	return (*[unsafe.Sizeof(arrow.Schema{})]byte)(unsafe.Pointer(schema))
}

// keep remembers a schema's image and returns its mark; zero for one that is too
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
			return old.mark // somebody was quicker
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
	// The mark, and not the entry, so that one that had to make room is not kept.
	k.cleanup = runtime.AddCleanup(schema, w.forget, k.mark)
	w.byAddress[address], w.byMark[k.mark] = k, k
	w.bytes += image.Bytes()
	return k.mark
}

// forget is called when a schema is gone.
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

// recogniseSchema returns the very schema that an unaltered struct of gpuframe's
// own was written from, or nil.
func recogniseSchema(s *cabi.Schema) *arrow.Schema {
	origin := s.Origin()
	schema, image := written.marked(origin.Mark)
	if schema == nil || !image.WroteTo(s, origin) {
		return nil
	}
	return schema
}
