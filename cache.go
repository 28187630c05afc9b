package gpuframe

import (
	"errors"

	"github.com/gpuframe/gpuframe/internal/exec"
	"github.com/gpuframe/gpuframe/internal/plan"
)

// Cache keeps the rows of the query for all queries that contain the returned one. The first
// that runs computes them, those that run at the same time wait for it, and later ones read
// what was kept: the sources are not read again. Explain shows what a cache keeps.
//
// The rows are device memory of the engine, and move to host memory while memory is short.
// If they do not fit, the query runs without keeping them. A query that fails for lack of
// memory releases the rows of all caches and begins again.
//
// The optimizer moves nothing across a cache: filter rows and drop columns before it. A
// [Engine.Reader] below a cache is not shared with the rest of the query.
//
// # Ownership
//
// [Query.Evict] and [Engine.Close] release the rows.
func (q Query) Cache() Query {
	made := q.then("Cache", func(b *binder, inputs []plan.Node) plan.Node {
		return plan.NewCache(inputs[0], b.at.store)
	})
	if s := made.step; s != nil {
		s.store = exec.NewStore(&s.engine.stores, s.origin)
	}
	return made
}

// Evict releases the rows that caches of the query keep. Queries that read them now go on. A
// later run computes them again.
func (q Query) Evict() error {
	seen := map[*step]bool{}
	var failures []error
	var visit func(*step)
	visit = func(s *step) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if s.store != nil {
			failures = append(failures, s.store.Evict())
		}
		for _, input := range s.inputs {
			visit(input)
		}
	}
	visit(q.step)
	return errors.Join(failures...)
}
