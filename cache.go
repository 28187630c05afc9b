package gpuframe

import "github.com/gpuframe/gpuframe/internal/query/bind"

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
	cached := q.then(bind.Cache("Cache"))
	if cached.step != nil {
		cached.step.Keep(&q.engine.tenancy.Stores)
	}
	return cached
}

// CacheWith is [Query.Cache] with the rows of an earlier query: kept, which Cache returned on
// the same engine. It is for queries that are made again from data in each request, and relies on
// the caller that both have the same rows. They have the same columns.
func (q Query) CacheWith(kept Query) Query {
	cached := q.then(bind.Cache("CacheWith"))
	if cached.step != nil {
		cached.step.KeepWith(kept.step)
	}
	return cached
}

// Evict releases the rows that caches of the query keep. Queries that read them now go on. A
// later run computes them again.
func (q Query) Evict() error { return q.step.Evict() }
