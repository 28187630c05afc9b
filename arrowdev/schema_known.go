package arrowdev

import (
	"bytes"
	"hash/maphash"
	"runtime"
	"sync"
	"weak"

	"github.com/apache/arrow/go/v17/arrow"
)

// These bounds limit the cache of schemas that were read.
const (
	maximumRead      = 256
	maximumReadBytes = 1 << 20
)

// readSchemas caches the schemas that were read, as long as they are reachable. A
// producer sends the same schema with each array, and parsing it takes longer than
// importing the array.
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

// lookUp returns the schema of a text, or nil.
func (k *knownSchemas) lookUp(text []byte) *arrow.Schema {
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

// keep stores the schema of a text.
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

// forget removes a hash after a schema with that hash was collected.
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
