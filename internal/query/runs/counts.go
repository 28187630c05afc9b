package runs

import (
	"maps"
	"slices"
	"sync"
)

// Counts count the queries of a tenancy with one tag.
type Counts struct {
	Tag string
	// Waiting queries wait for memory that others use, Running ones run.
	Waiting, Running int
	// Completed and Failed count queries that have ended, Waits the times that one had to wait.
	Completed, Failed, Waits uint64
}

// Queries returns the counts of the queries that have begun, ordered by their tags.
func (t *Tenancy) Queries() []Counts { return t.queries.list() }

// queries count the queries of a tenancy by their tags.
type queries struct {
	mu   sync.Mutex
	tags map[string]*counts
}

// countsOf returns the counts of a tag.
func (q *queries) countsOf(tag string) *counts {
	q.mu.Lock()
	defer q.mu.Unlock()
	known := q.tags[tag]
	if known == nil {
		if q.tags == nil {
			q.tags = make(map[string]*counts)
		}
		known = &counts{current: Counts{Tag: tag}}
		q.tags[tag] = known
	}
	return known
}

func (q *queries) list() []Counts {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []Counts
	for _, tag := range slices.Sorted(maps.Keys(q.tags)) {
		list = append(list, q.tags[tag].read())
	}
	return list
}

// counts are the counts of one tag.
type counts struct {
	mu      sync.Mutex
	current Counts
}

func (c *counts) read() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// change changes the counts under their lock.
func (c *counts) change(f func(*Counts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.current)
}

func (c *counts) begin() { c.change(func(s *Counts) { s.Running++ }) }

func (c *counts) wait() {
	c.change(func(s *Counts) { s.Running, s.Waiting, s.Waits = s.Running-1, s.Waiting+1, s.Waits+1 })
}

// resume undoes wait.
func (c *counts) resume() {
	c.change(func(s *Counts) { s.Running, s.Waiting = s.Running+1, s.Waiting-1 })
}

func (c *counts) end(err error) {
	c.change(func(s *Counts) {
		s.Running--
		if err == nil {
			s.Completed++
		} else {
			s.Failed++
		}
	})
}
