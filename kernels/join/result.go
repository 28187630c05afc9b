package join

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// tableOf makes the result of matches, which it releases.
func (r *run) tableOf(m *matches, probesRight bool) (*buffer.Buffer, error) {
	if r.filters(m) {
		m, err := r.refined(m, probesRight)
		if err != nil {
			return nil, err
		}
		filtered, err := r.filterLeft(m)
		return release.OnError(filtered, err, m.Release())
	}
	j, err := r.pairsOf(m, probesRight)
	if err != nil {
		return nil, err
	}
	gathered, err := r.table(j)
	return release.OnError(gathered, err, j.Release())
}

// table gathers the columns of the result.
func (r *run) table(j *joined) (*buffer.Buffer, error) {
	var held release.Stack
	gathered, err := r.gather(&held, j)
	return release.OnError(gathered, err, held.Release())
}

// gather gathers columns, which held releases, and makes a table of them.
func (r *run) gather(held *release.Stack, j *joined) (*buffer.Buffer, error) {
	left, err := j.pairs.numbers(j.left)
	if err != nil {
		return nil, err
	}
	held.Add(left)
	right, err := j.pairs.numbers(j.right)
	if err != nil {
		return nil, err
	}
	held.Add(right)
	var columns []*column.Column
	for _, c := range r.result.columns {
		if !c.selected {
			continue
		}
		gathered, err := r.gatherColumn(c, j, left, right)
		if err != nil {
			err = fmt.Errorf("column %q: %w", c.name, err)
			if errors.Is(err, memory.ErrBudget) {
				err = fmt.Errorf("the result has %d rows, and columns of %s: use Batches, or name fewer columns: %w", j.pairs.rows, r.sizeOfResult(j), err)
			}
			return nil, err
		}
		held.Add(gathered)
		columns = append(columns, gathered)
	}
	schema := r.result.schema(r.left.Schema(), r.right.Schema(), r.options.Kind)
	return op.Table(schema, columns, buffer.Rows{Count: int64(j.pairs.rows), Manager: r.call.Manager})
}

// sizeOfResult returns the memory of the columns of the result for messages.
func (r *run) sizeOfResult(j *joined) string {
	total, texts := uint64(0), false
	for _, c := range r.result.columns {
		if !c.selected {
			continue
		}
		from := r.left.Column(c.number)
		if c.right {
			from = r.right.Column(c.number)
		}
		bytes, err := bytesOf(from, from.Type(), uint64(j.pairs.rows), false, j.leftMissing || j.rightMissing)
		texts = texts || err != nil
		total += bytes
	}
	if texts {
		return fmt.Sprintf("%d bytes without strings and lists", total)
	}
	return fmt.Sprintf("%d bytes", total)
}

// gatherColumn gathers a column. A key with the name of its right key has the values of
// the right table where the left row is missing.
func (r *run) gatherColumn(c resultColumn, j *joined, left, right *column.Column) (*column.Column, error) {
	from, rows, number, missing := r.left, left, c.number, j.leftMissing
	switch {
	case c.shared >= 0 && r.options.Kind == Full:
		return r.gatherShared(c, left, right)
	case c.shared >= 0 && r.options.Kind == Right:
		from, rows, number, missing = r.right, right, c.shared, j.rightMissing
	case c.right:
		from, rows, missing = r.right, right, j.rightMissing
	}
	if r.shares(c, j, from.Column(number)) {
		return from.Column(number), from.Column(number).Retain()
	}
	return r.take(from.Column(number), rows, missing)
}

// shares reports whether a column of the result is that of the table: if all rows are in
// it, in order, and their memory is of the manager of the result.
func (r *run) shares(c resultColumn, j *joined, from *column.Column) bool {
	fromRight := c.right || c.shared >= 0 && r.options.Kind == Right
	return j.pairs.everyRow && fromRight == j.probesRight && from.Manager() == r.call.Manager
}

// take takes rows of a column. noRow is null if rows may be missing.
func (r *run) take(c, rows *column.Column, missing bool) (*column.Column, error) {
	bounds := selection.Trust
	if missing {
		bounds = selection.Null
	}
	return selection.TakeColumnWith(r.call.Context(), c, rows, selection.TakeOptions{
		Options: r.resultOptions(), Bounds: bounds, Distinct: r.options.Kind.leftOnly(),
	})
}

// gatherShared gathers a key of a full join from both tables, in one type: the right rows
// are behind the left ones in a concatenation of both.
func (r *run) gatherShared(c resultColumn, left, right *column.Column) (*column.Column, error) {
	if err := checkSide("concatenated", r.left.Capacity()+r.right.Capacity()); err != nil {
		return nil, err
	}
	a, b, err := unify(r.call.Context(), r.left.Column(c.number), r.right.Column(c.shared), r.scratch())
	if err != nil {
		return nil, err
	}
	both, err := selection.ConcatColumns(r.call.Context(), []*column.Column{a, b}, r.scratch())
	if both, err = release.OnError(both, err, a.Release(), b.Release()); err != nil {
		return nil, err
	}
	if left.Len() == 0 {
		taken, err := r.take(both, left, false)
		return release.OnError(taken, err, both.Release())
	}
	block, slices, err := r.uint32s(left.Len())
	if err != nil {
		return nil, errors.Join(err, both.Release())
	}
	taken, err := r.takeShared(both, left, right, slices)
	return release.OnError(taken, err, both.Release(), block.Release())
}

func (r *run) takeShared(both, left, right *column.Column, slices []memory.Slice[uint32]) (*column.Column, error) {
	lefts, leftErr := uint32sOf(left)
	rights, rightErr := uint32sOf(right)
	if err := errors.Join(leftErr, rightErr, r.waitIdle()); err != nil {
		return nil, err
	}
	var err error
	if r.call.OnHost() {
		err = r.sharedOnHost(slices[0], lefts, rights)
	} else {
		err = r.sharedOnDevice(slices[0], lefts, rights)
	}
	if err != nil {
		return nil, err
	}
	rows, err := selection.RowNumbers(slices[0], nil)
	if err != nil {
		return nil, err
	}
	taken, err := r.take(both, rows, false)
	return release.OnError(taken, err, rows.Release())
}
