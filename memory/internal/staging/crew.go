package staging

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// crew is the set of goroutines that do the host's part of transfers. Waking an idle
// processor takes as long as copying hundreds of kilobytes, so a goroutine spins for a
// short time after its work, ready for the next transfer. The goroutines exit when the
// transfers end.
type crew struct {
	// size is the number of goroutines that work concurrently, including the caller.
	size int
	// current is the most recent round, for the goroutines that spin.
	current atomic.Pointer[round]
	// alive counts the goroutines, excluding the callers.
	alive atomic.Int64
}

// linger is how long a goroutine spins after its work. It is longer than the device's
// part of a small transfer.
const linger = 100 * time.Microsecond

// defaultWorkers returns a number of workers that fills the link. On an H200's host
// eight workers do; the rest compensate for workers that are late.
func defaultWorkers() int {
	processors := runtime.GOMAXPROCS(0)
	return min(12, processors-processors/4)
}

// worthOneWorker is the number of bytes that justifies another worker. More workers
// make small transfers slower, because some of them are always late.
const worthOneWorker = 256 << 10

// enough returns the number of workers for a transfer of the given length.
func (c *crew) enough(bytes uint64) int {
	return int(min(uint64(c.size), max(1, bytes/worthOneWorker)))
}

// round is a set of tasks. They start in order and may complete in any order.
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

// run does the tasks and returns the first error, or the context's. After an error no
// further task starts. When run returns, all tasks that started have completed.
func (c *crew) run(ctx context.Context, tasks int, do func(task int) error) error {
	r := c.begin(ctx, c.size, tasks, do)
	r.work()
	return r.wait()
}

// begin starts a round with the given number of workers, including the caller. The
// caller takes part by calling work or step, and ends the round with wait.
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

// join works on a round, and on those that start while it spins.
func (c *crew) join(r *round) {
	defer c.alive.Add(-1)
	for r != nil {
		r.work()
		r = c.await(r)
	}
}

// await spins until a round other than last starts, or returns nil after the time in
// linger. It does not yield: each pass through the scheduler would wake a thread that
// finds no work.
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

// spins is the number of reads of a variable between two reads of the clock. patience
// is how many times spins a goroutine reads a variable before it sleeps, some hundred
// microseconds.
const (
	spins    = 200
	patience = 1000
)

// work does tasks until none remain.
func (r *round) work() {
	for r.step(r.tasks) {
	}
}

// step does the next task if its index is below limit, and reports whether it was.
// After a failure the remaining tasks count as finished.
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

// fail records the first error and skips the tasks that have not started.
func (r *round) fail(err error) {
	r.once.Do(func() { r.failure = err })
	r.failed.Store(true)
}

// wait waits until every task is finished, and returns the first error. It spins first,
// because the remaining tasks usually complete soon.
func (r *round) wait() error {
	for range patience * spins {
		if r.finished.Load() == r.tasks {
			break
		}
	}
	<-r.done
	r.do = nil // do not keep the copied memory alive
	return r.failure
}
