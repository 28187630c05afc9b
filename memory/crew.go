package memory

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// crew is the goroutines that share the host's part of transfers. Waking a
// processor that sleeps takes as long as copying hundreds of kilobytes, so after
// its work a goroutine lingers for a moment: transfers that follow one another
// find it awake. None is left when the transfers are over.
type crew struct {
	// size is how many goroutines work at a time, the caller's among them.
	size int
	// current is the round that was begun last, for those who linger.
	current   atomic.Pointer[round]
	lingering atomic.Int64
}

// linger is longer than the device's part of a small transfer.
const linger = 100 * time.Microsecond

// defaultWorkers is enough to fill the link, which eight do on an H200's host,
// with some to spare for those that are late.
func defaultWorkers() int {
	processors := runtime.GOMAXPROCS(0)
	return min(12, processors-processors/4)
}

// round is a number of tasks that are done in any order, begun in order.
type round struct {
	ctx      context.Context
	tasks    int64
	do       func(task int) error
	next     atomic.Int64
	finished atomic.Int64
	failed   atomic.Bool
	failure  error
	once     sync.Once
	done     chan struct{}
}

// run does the tasks and returns the first error, or the context's. After an
// error no further task is begun. All that were begun have ended when it
// returns.
func (c *crew) run(ctx context.Context, tasks int, do func(task int) error) error {
	r := &round{ctx: ctx, tasks: int64(tasks), do: do}
	if tasks <= 1 || c.size <= 1 {
		r.work()
		return r.failure
	}
	r.done = make(chan struct{})
	c.current.Store(r)
	for range min(c.size, tasks) - 1 - int(c.lingering.Load()) {
		go c.join(r)
	}
	r.work()
	r.wait()
	return r.failure
}

// join works on a round, and on those that begin while it lingers.
func (c *crew) join(r *round) {
	for r != nil {
		r.work()
		r = c.await(r)
	}
}

// await lingers until another round than the last begins, or returns nil. It
// does not yield: every turn of the scheduler would wake a thread to look for
// work that is not there.
func (c *crew) await(last *round) *round {
	c.lingering.Add(1)
	defer c.lingering.Add(-1)
	for end := time.Now().Add(linger); time.Now().Before(end); {
		for range spins {
			if r := c.current.Load(); r != last {
				return r
			}
		}
	}
	// Nobody may hold on to what the last transfer copied.
	c.current.CompareAndSwap(last, nil)
	return nil
}

// spins is how often a variable is read between two looks at the clock.
const spins = 200

// work does tasks until none is left. Tasks that are left after a failure count
// as finished.
func (r *round) work() {
	for {
		task := r.next.Add(1) - 1
		if task >= r.tasks {
			return
		}
		if !r.failed.Load() {
			err := context.Cause(r.ctx)
			if err == nil {
				err = r.do(int(task))
			}
			if err != nil {
				r.fail(err)
			}
		}
		if r.finished.Add(1) == r.tasks && r.done != nil {
			close(r.done)
		}
	}
}

func (r *round) fail(err error) {
	r.once.Do(func() { r.failure = err })
	r.failed.Store(true)
}

// wait returns when every task is finished. The others are usually about to be.
func (r *round) wait() {
	for range 200 * spins {
		if r.finished.Load() == r.tasks {
			break
		}
	}
	<-r.done
}
