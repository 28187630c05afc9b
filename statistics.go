package gpuframe

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// QueryStats are the statistics of the queries of an engine with one tag.
type QueryStats struct {
	Tag string
	// Waiting queries wait for memory that others use, Running ones run or are between two
	// frames of [Query.Batches].
	Waiting, Running int
	// Completed and Failed count queries that have ended, Waits the times that one had
	// to wait.
	Completed, Failed, Waits uint64
	// InUse is the device memory with the tag, in bytes, that of results included. Peak is
	// the most at a time, with several devices the sum of their peaks.
	InUse, Peak uint64
}

// Queries returns the statistics of the queries that the engine has run, ordered by their
// tags. Those of its tenants are not included.
func (e *Engine) Queries() []QueryStats {
	list := e.queries.list()
	for _, m := range e.Managers() {
		for _, tag := range m.Stats().Tags {
			at, known := slices.BinarySearchFunc(list, tag.Tag, func(s QueryStats, tag string) int { return cmp.Compare(s.Tag, tag) })
			if known {
				list[at].InUse += tag.InUse
				list[at].Peak += tag.Peak
			}
		}
	}
	return list
}

// queries count the queries of an engine by their tags.
type queries struct {
	mu   sync.Mutex
	tags map[string]*queryCounts
}

// countsOf returns the counts of a tag.
func (q *queries) countsOf(tag string) *queryCounts {
	q.mu.Lock()
	defer q.mu.Unlock()
	known := q.tags[tag]
	if known == nil {
		if q.tags == nil {
			q.tags = make(map[string]*queryCounts)
		}
		known = &queryCounts{stats: QueryStats{Tag: tag}}
		q.tags[tag] = known
	}
	return known
}

func (q *queries) list() []QueryStats {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []QueryStats
	for _, tag := range slices.Sorted(maps.Keys(q.tags)) {
		list = append(list, q.tags[tag].read())
	}
	return list
}

// queryCounts are the counts of one tag.
type queryCounts struct {
	mu    sync.Mutex
	stats QueryStats
}

func (c *queryCounts) read() QueryStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// change changes the counts under their lock.
func (c *queryCounts) change(f func(*QueryStats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.stats)
}

func (c *queryCounts) begin() { c.change(func(s *QueryStats) { s.Running++ }) }

func (c *queryCounts) wait() {
	c.change(func(s *QueryStats) { s.Running, s.Waiting, s.Waits = s.Running-1, s.Waiting+1, s.Waits+1 })
}

// resume undoes wait.
func (c *queryCounts) resume() {
	c.change(func(s *QueryStats) { s.Running, s.Waiting = s.Running+1, s.Waiting-1 })
}

func (c *queryCounts) end(err error) {
	c.change(func(s *QueryStats) {
		s.Running--
		if err == nil {
			s.Completed++
		} else {
			s.Failed++
		}
	})
}
