package exec

import (
	"context"
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// tail yields some of the last rows of its input, in the tables that they came in. It holds no more
// tables than have these rows; they move to host memory while memory is short. One of several
// workers yields the last rows of its own, at their ordinals.
type tail struct {
	*stage
	// last is the number of last rows from which left rows are yielded, or [plan.All].
	last, left int64
	done       bool
	// tables are the last ones, and rows is the number of their rows.
	tables []tailTable
	rows   int64
	// at is the ordinal of the table that was yielded last.
	at ordinal
}

// tailTable is one of the last tables.
type tailTable struct {
	heldTable
	at   ordinal
	rows int64
}

func newTail(s *stage, n *plan.Slice) *tail {
	t := &tail{stage: s, last: -n.Offset(), left: n.Length()}
	if t.last < 0 { // of the smallest integer
		t.last = math.MaxInt64
	}
	return t
}

// newPartialTail makes a tail of which all rows are part of the tail of all workers.
func newPartialTail(s *stage, n *plan.Slice) *tail {
	t := newTail(s, n)
	t.left = plan.All
	s.worker.yielded = &t.at
	return t
}

// Next implements buffer.Reader.
func (t *tail) Next(ctx context.Context) (*buffer.Buffer, error) {
	table, err := t.next(ctx)
	return table, t.failed(err)
}

func (t *tail) next(ctx context.Context) (*buffer.Buffer, error) {
	if !t.done && len(t.inputs) > 0 {
		t.done = true
		if err := t.read(ctx); err != nil {
			return nil, unended(err)
		}
	}
	if len(t.tables) == 0 || t.left == 0 {
		return nil, errEnd
	}
	first := t.tables[0]
	table, err := acquired(ctx, first)
	if err != nil {
		return nil, unended(err)
	}
	t.tables = t.tables[1:]
	if table, err = release.OnError(table, unended(first.Release())); err != nil {
		return nil, err
	}
	from := max(t.rows-t.last, 0)
	t.rows -= first.rows
	length := first.rows - from
	if t.left != plan.All {
		length = min(length, t.left)
		t.left -= length
	}
	t.at = first.at
	return t.part(table, first.rows, from, length)
}

// read holds the last tables of the input.
func (t *tail) read(ctx context.Context) error {
	for {
		table, err := t.inputs[0].Next(ctx)
		if err == errEnd {
			return nil
		}
		if err == nil {
			table, err = t.compact(ctx, table)
		}
		if err == nil {
			err = t.keep(ctx, table)
		}
		if err != nil {
			return err
		}
	}
}

// keep takes a table over, and releases the first ones if the others have enough rows.
func (t *tail) keep(ctx context.Context, table *buffer.Buffer) error {
	rows, err := table.NumRows(ctx)
	if err != nil || rows == 0 || t.last == 0 {
		return errors.Join(err, table.Release())
	}
	if rows > t.last {
		// A part of a table keeps the memory of the table, unless it is copied.
		if table, err = t.part(table, rows, rows-t.last, t.last); err == nil {
			table, err = Exact(ctx, table, t.settings)
		}
		if err != nil {
			return err
		}
		rows = t.last
	}
	h := &held{stage: t.stage}
	if err := h.movable(ctx, table); err != nil {
		return err
	}
	last := tailTable{heldTable: h.tables[0], rows: rows}
	if t.worker != nil {
		last.at = t.worker.at
	}
	t.tables, t.rows = append(t.tables, last), t.rows+rows
	for t.rows-t.tables[0].rows >= t.last {
		if err := t.drop(); err != nil {
			return err
		}
	}
	return nil
}

// part returns consecutive rows of a table, which it takes over.
func (t *tail) part(table *buffer.Buffer, rows, from, length int64) (*buffer.Buffer, error) {
	if from == 0 && length == rows {
		return table, nil
	}
	part, err := table.Slice(from, length)
	return release.OnError(part, err, table.Release())
}

// drop releases the first table.
func (t *tail) drop() error {
	first := t.tables[0]
	t.tables, t.rows = t.tables[1:], t.rows-first.rows
	return first.Release()
}

// Close implements buffer.Reader.
func (t *tail) Close() error {
	var failures []error
	for len(t.tables) > 0 {
		failures = append(failures, t.drop())
	}
	return errors.Join(append(failures, t.stage.Close())...)
}
