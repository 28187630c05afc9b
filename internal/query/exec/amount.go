package exec

import (
	"context"
	"sync"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// amount counts the rows of all workers of a fragment until they are more than few, or all workers
// have ended.
type amount struct {
	few int64

	mu      sync.Mutex
	rows    int64
	running int
	// known is closed when the workers have ended, or the rows are more than few.
	known chan struct{}
}

func newAmount(workers int, few int64) *amount {
	return &amount{few: few, running: workers, known: make(chan struct{})}
}

// add counts rows of a worker, and reports whether all are few so far. A worker that has more does
// not wait for the others: they may wait for it.
func (a *amount) add(rows int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.rows
	if a.rows += rows; before <= a.few && a.rows > a.few {
		close(a.known)
	}
	return a.rows <= a.few
}

// end counts a worker as ended, and waits until it is known whether the rows are few.
func (a *amount) end(ctx context.Context) (few bool, err error) {
	a.mu.Lock()
	if a.running--; a.running == 0 && a.rows <= a.few {
		close(a.known)
	}
	a.mu.Unlock()
	select {
	case <-a.known:
	case <-ctx.Done():
		return false, cancel.Error(ctx)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rows <= a.few, nil
}

// orderedTables are tables of a worker with their ordinals. They move to host memory while memory is
// short.
type orderedTables struct {
	*held
	at []ordinal
}

// keep takes a table over.
func (o *orderedTables) keep(ctx context.Context, table *buffer.Buffer, at ordinal) error {
	if err := o.movable(ctx, table); err != nil {
		return err
	}
	for len(o.at) < len(o.tables) {
		o.at = append(o.at, at)
	}
	return nil
}

// each calls a function with each table, which takes it over, and keeps none.
func (o *orderedTables) each(ctx context.Context, call func(*buffer.Buffer, ordinal) error) error {
	for len(o.tables) > 0 {
		table, err := o.pop(ctx)
		if err != nil {
			return err
		}
		at := o.at[0]
		o.at = o.at[1:]
		if err := call(table, at); err != nil {
			return err
		}
	}
	return nil
}
