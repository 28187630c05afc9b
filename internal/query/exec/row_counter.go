package exec

import (
	"context"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// tally counts the rows that reach an operation on each worker of a fragment, by their ordinals. The
// lock of the fragment guards it.
type tally struct {
	rows [][]ordinalRows
	// ended has the workers on which the operation has reached its end.
	ended []bool
}

// ordinalRows is the number of rows of an ordinal.
type ordinalRows struct {
	at   ordinal
	rows int64
}

// rowCounter finds the numbers that a worker's rows have among those of all workers. The sizes of a
// scan's batches and of a shuffle's parts are known before their rows are read. Other rows are
// counted: a worker waits until all others have reached its ordinal or a later one, so the devices
// work on about as many batches at a time as there are devices. The worker with the first ordinal of
// all waits for none. What the others have yielded comes before the ordinals of those that wait, so
// the gathering takes it.
type rowCounter struct {
	worker *worker
	// tally is nil if the numbers are known.
	tally *tally
	// at is the ordinal of the last rows, if begun is set.
	at    ordinal
	begun bool
	// before is the number of the rows that were added up: of each worker as many ordinals as next has.
	before int64
	next   []int
}

// count returns the counter for the operation that the worker opens next.
func (w *worker) count(known bool) *rowCounter {
	if known {
		return &rowCounter{worker: w}
	}
	f, number := w.fragment, w.tallies
	w.tallies++
	if number == len(f.tallies) {
		f.tallies = append(f.tallies, &tally{})
	}
	t := f.tallies[number]
	t.rows, t.ended = append(t.rows, nil), append(t.ended, false)
	return &rowCounter{worker: w, tally: t}
}

// first returns the number of the next row, which is the given one unless the worker has reached
// another ordinal.
func (c *rowCounter) first(ctx context.Context, next int64) (int64, error) {
	at := c.worker.at
	if c.begun && c.at == at {
		return next, nil
	}
	first := c.worker.first
	if c.tally != nil {
		var err error
		if first, err = c.wait(ctx, at); err != nil {
			return 0, err
		}
	}
	c.at, c.begun = at, true
	return first, nil
}

// wait returns the number of rows before an ordinal. It waits for the workers that may have more.
func (c *rowCounter) wait(ctx context.Context, at ordinal) (int64, error) {
	for {
		before, moved := c.sum(at)
		if moved == nil {
			return before, nil
		}
		err := c.worker.settings.Turns.outside(ctx, func() error {
			select {
			case <-moved:
				return nil
			case <-ctx.Done():
				return cancel.Error(ctx)
			}
		})
		if err != nil {
			return 0, err
		}
	}
}

// sum returns the number of rows before an ordinal or, if that is not known yet, a channel that is
// closed when a worker has moved.
func (c *rowCounter) sum(at ordinal) (before int64, moved <-chan struct{}) {
	f := c.worker.fragment
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, w := range f.workers {
		if w != c.worker && !w.done && !c.tally.ended[i] && w.at.before(at) {
			return 0, f.moved.next()
		}
	}
	if c.next == nil {
		c.next = make([]int, len(f.workers))
	}
	for i, list := range c.tally.rows {
		for c.next[i] < len(list) && list[c.next[i]].at.before(at) {
			c.before += list[c.next[i]].rows
			c.next[i]++
		}
	}
	return c.before, nil
}

// add counts rows at the ordinal of the worker.
func (c *rowCounter) add(rows int64) {
	if c.tally == nil || rows == 0 {
		return
	}
	f := c.worker.fragment
	f.mu.Lock()
	defer f.mu.Unlock()
	list := c.tally.rows[c.worker.number]
	if last := len(list) - 1; last >= 0 && list[last].at == c.worker.at {
		list[last].rows += rows
	} else {
		c.tally.rows[c.worker.number] = append(list, ordinalRows{c.worker.at, rows})
	}
}

// end reports that the worker has no further rows.
func (c *rowCounter) end() {
	if c.tally != nil {
		c.worker.fragment.change(func() { c.tally.ended[c.worker.number] = true })
	}
}
