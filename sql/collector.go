package sql

import (
	"runtime"
	"sync"
	"time"
)

// collector starts the garbage collector. A table that a query is on is not released by it, so that one run for each
// drop, and one a second for queries that have ended since, are enough.
type collector struct {
	mu sync.Mutex
	// drops are the drops since the last run.
	drops int
	last  time.Time
}

// collectionInterval is the time after which the garbage collector runs again without another drop.
const collectionInterval = time.Second

// drop records that a table was dropped.
func (c *collector) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops++
}

// collect runs the garbage collector, unless it has run and nothing was dropped since. Calls at the same time wait for
// one run.
func (c *collector) collect() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drops == 0 && time.Since(c.last) < collectionInterval {
		return
	}
	runtime.GC()
	c.drops, c.last = 0, time.Now()
}
