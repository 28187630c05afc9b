package gpuframe

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
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
	cached := q.then("Cache", nil, (*binder).cache)
	if s := cached.step; s != nil {
		s.store = exec.NewStore(&s.engine.tenancy.Stores, s.origin)
	}
	return cached
}

// CacheWith is [Query.Cache] with the rows of an earlier query: kept, which Cache returned on
// the same engine. It is for queries that are made again from data in each request, and relies on
// the caller that both have the same rows. They have the same columns.
func (q Query) CacheWith(kept Query) Query {
	cached := q.then("CacheWith", nil, (*binder).cache)
	if s := cached.step; s != nil && kept.step != nil && kept.step.engine == s.engine {
		s.store = kept.step.store
	}
	return cached
}

func (b *binder) cache(inputs []plan.Node) plan.Node {
	store := b.at.store
	if store == nil {
		b.report(fmt.Errorf("the query with the rows was not made by Cache on the same engine: %w", device.ErrInvalidValue))
		return inputs[0]
	}
	if err := store.Accept(inputs[0].Schema()); err != nil {
		b.report(err)
		return inputs[0]
	}
	return plan.NewCache(inputs[0], store)
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
