//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
import "C"

import (
	"errors"
	"sync"

	"github.com/gpuframe/gpuframe"
)

// caches are the queries of each engine that keep rows, by the names in their documents.
var caches = struct {
	sync.Mutex
	byEngine map[*gpuframe.Engine]map[string]gpuframe.Query
}{byEngine: map[*gpuframe.Engine]map[string]gpuframe.Query{}}

// cached returns a query with the rows that an engine keeps by a name.
func cached(e *gpuframe.Engine, name string, q gpuframe.Query) gpuframe.Query {
	caches.Lock()
	defer caches.Unlock()
	if kept, ok := caches.byEngine[e][name]; ok {
		return q.CacheWith(kept)
	}
	if caches.byEngine[e] == nil {
		caches.byEngine[e] = map[string]gpuframe.Query{}
	}
	query := q.Cache()
	caches.byEngine[e][name] = query
	return query
}

// forgetCaches forgets the queries of an engine that closes.
func forgetCaches(e *gpuframe.Engine) {
	caches.Lock()
	defer caches.Unlock()
	delete(caches.byEngine, e)
}

// gpuframe_evict releases the rows that engines keep by a name. Queries that read them now go
// on, and later ones compute them again. With last no query has the name any more.
//
//export gpuframe_evict
func gpuframe_evict(name *C.char, last C.int32_t) *C.char {
	return guarded(func() error {
		key := C.GoString(name)
		var kept []gpuframe.Query
		caches.Lock()
		for _, queries := range caches.byEngine {
			if q, ok := queries[key]; ok {
				kept = append(kept, q)
			}
			if last != 0 {
				delete(queries, key)
			}
		}
		caches.Unlock()
		failures := make([]error, len(kept))
		for i, q := range kept {
			failures[i] = q.Evict()
		}
		return errors.Join(failures...)
	})
}
