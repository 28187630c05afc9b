package staging

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpuframe/gpuframe/internal/cancel"
)

// crew is the goroutines that share the host's part of transfers. Waking a
// processor that sleeps takes as long as copying hundreds of kilobytes, so after
// its work a goroutine lingers for a moment: transfers that follow one another
// find it awake. None is left when the transfers are over.
type crew struct {
	// size is how many goroutines work at a time, the caller's among them.
	size int
	// current is the round that was begun last, for those who linger.
	current atomic.Pointer[round]
	// alive counts the goroutines besides the callers.
	alive atomic.Int64
}

// linger is longer than the device's part of a small transfer.
const linger = 100 * time.Microsecond

// defaultWorkers is enough to fill the link, which eight do on an H200's host,
// with some to spare for those that are late.
func defaultWorkers() int {
	processors := runtime.GOMAXPROCS(0)
	return min(12, processors-processors/4)
}

// worthOneWorker is how many bytes are worth another worker. With more workers
// small transfers take longer: some are always late.
const worthOneWorker = 256 << 10

// enough returns how many workers a transfer of so many bytes shall have.
func (c *crew) enough(bytes uint64) int {
	return int(min(uint64(c.size), max(1, bytes/worthOneWorker)))
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
	r := c.begin(ctx, c.size, tasks, do)
	r.work()
	return r.wait()
}

// begin sets so many of the crew to the tasks, the caller among them, who does
// some by work or by step and ends with wait.
func (c *crew) begin(ctx context.Context, workers, tasks int, do func(task int) error) *round {
	r := &round{ctx: ctx, tasks: int64(tasks), do: do, done: make(chan struct{})}
	if tasks == 0 {
		close(r.done)
	}
	helpers := min(workers, tasks) - 1
	if helpers <= 0 {
		return r
	}
	c.current.Store(r)
	for range helpers - int(c.alive.Load()) {
		c.alive.Add(1)
		go c.join(r)
	}
	return r
}

// join works on a round, and on those that begin while it lingers.
func (c *crew) join(r *round) {
	defer c.alive.Add(-1)
	for r != nil {
		r.work()
		r = c.await(r)
	}
}

// await lingers until another round than the last begins, or returns nil. It
// does not yield: every turn of the scheduler would wake a thread to look for
// work that is not there.
func (c *crew) await(last *round) *round {
	for end := time.Now().Add(linger); time.Now().Before(end); {
		for range spins {
			if r := c.current.Load(); r != last {
				return r
			}
		}
	}
	return nil
}

// spins is how often a variable is read between two looks at the clock.
// patience is how many times as long somebody spins for what is due any moment
// before sleeping: some hundred microseconds.
const (
	spins    = 200
	patience = 1000
)

// work does tasks until none is left.
func (r *round) work() {
	for r.step(r.tasks) {
	}
}

// step does the next task if it is one of the first so many, and reports whether
// it was. Tasks that are left after a failure count as finished.
func (r *round) step(limit int64) bool {
	task := r.next.Load()
	for {
		if task >= limit {
			return false
		}
		if r.next.CompareAndSwap(task, task+1) {
			break
		}
		task = r.next.Load()
	}
	if !r.failed.Load() {
		err := cancel.Error(r.ctx)
		if err == nil {
			err = r.do(int(task))
		}
		if err != nil {
			r.fail(err)
		}
	}
	if r.finished.Add(1) == r.tasks {
		close(r.done)
	}
	return true
}

// fail makes the round end early with an error.
func (r *round) fail(err error) {
	r.once.Do(func() { r.failure = err })
	r.failed.Store(true)
}

// wait returns when every task is finished, with the first error. The others are
// usually about to be.
func (r *round) wait() error {
	for range patience * spins {
		if r.finished.Load() == r.tasks {
			break
		}
	}
	<-r.done
	r.do = nil // nobody may hold on to what was copied
	return r.failure
}
