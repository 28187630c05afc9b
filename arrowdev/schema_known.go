package arrowdev

import (
	"bytes"
	"hash/maphash"
	"runtime"
	"sync"
	"weak"

	"github.com/apache/arrow/go/v17/arrow"
)

// Bounds of what is remembered of schemas that were read.
const (
	maximumRead      = 256
	maximumReadBytes = 1 << 20
)

// readSchemas remembers the schemas that were read, as long as somebody has them: a
// producer sends the same one with each array, and to make it anew takes longer
// than to take the array in.
var readSchemas = knownSchemas{seed: maphash.MakeSeed(), byHash: map[uint64]*knownSchema{}}

type knownSchemas struct {
	seed maphash.Seed

	mu     sync.RWMutex
	byHash map[uint64]*knownSchema
	bytes  int
}

type knownSchema struct {
	text    []byte
	schema  weak.Pointer[arrow.Schema]
	value   arrow.Schema // see writtenSchema
	cleanup runtime.Cleanup
}

// of returns the schema of a text, or nil.
func (k *knownSchemas) of(text []byte) *arrow.Schema {
	hash := maphash.Bytes(k.seed, text)
	k.mu.RLock()
	known := k.byHash[hash]
	k.mu.RUnlock()
	if known == nil || !bytes.Equal(known.text, text) {
		return nil
	}
	schema := known.schema.Value()
	if schema == nil || *bitsOf(schema) != *bitsOf(&known.value) {
		return nil
	}
	return schema
}

// keep remembers the schema of a text.
func (k *knownSchemas) keep(text []byte, schema *arrow.Schema) {
	hash := maphash.Bytes(k.seed, text)
	k.mu.Lock()
	defer k.mu.Unlock()
	if old := k.byHash[hash]; old != nil {
		k.remove(hash, old)
	}
	for other, known := range k.byHash {
		if len(k.byHash) < maximumRead && k.bytes+len(text) <= maximumReadBytes {
			break
		}
		k.remove(other, known)
	}
	known := &knownSchema{text: bytes.Clone(text), schema: weak.Make(schema), value: *schema}
	known.cleanup = runtime.AddCleanup(schema, k.forget, hash)
	k.byHash[hash] = known
	k.bytes += len(text)
}

// forget is called when a schema of a text of that hash is gone.
func (k *knownSchemas) forget(hash uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if known := k.byHash[hash]; known != nil && known.schema.Value() == nil {
		k.remove(hash, known)
	}
}

func (k *knownSchemas) remove(hash uint64, known *knownSchema) {
	known.cleanup.Stop()
	delete(k.byHash, hash)
	k.bytes -= len(known.text)
}
