package join

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	choices "github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// Few left rows by many right rows, with the result in the order of the left rows: the right table is the probe side
// anyway, so that its rows are looked up and not inserted, and the pairs are sorted by their left rows.

// reverses reports whether the right table is the probe side though the result is in the order of the left rows.
func (s *sides) reverses() bool {
	return s.options.reverses(s.Context(), len(s.leftKeys), s.left.Capacity(), s.right.Capacity())
}

// reverses is that of sides with a number of keys, and l left and r right rows.
func (o *Options) reverses(ctx context.Context, keys int, l, r int64) bool {
	if o.Kind != Inner || o.Order != LeftOrder || !o.Where.IsZero() || keys == 0 {
		return false
	}
	switch tuningOf(ctx).Probe {
	case choices.ProbedRight:
		return l > 0 && r > 0
	case choices.ProbedLeft:
		return false
	}
	return r >= fewestReversed && r/rightPerLeft >= l
}

// inLeftOrder sorts the pairs of the right rows that were looked up, by their left rows and then by the right ones.
func (o *output) inLeftOrder(j *joined) error {
	p := j.pairs
	p.everyRow = false
	if p.rows < 2 {
		return nil
	}
	var held release.Stack
	err := o.sortByLeft(&held, j)
	return errors.Join(err, held.Release())
}

func (o *output) sortByLeft(held *release.Stack, j *joined) error {
	p := j.pairs
	left, err := p.numbers(j.left)
	if err != nil {
		return err
	}
	held.Add(left)
	right, err := p.numbers(j.right)
	if err != nil {
		return err
	}
	held.Add(right)
	table, err := tableOf([]string{"left", "right"}, []*column.Column{left, right}, buffer.Rows{Count: int64(p.rows)})
	if err != nil {
		return err
	}
	held.Add(table)
	sorted, err := sortRows(o.call, &p.held, table, []order.Key{{Column: "left"}})
	if err != nil {
		return err
	}
	var leftErr, rightErr error
	j.left, leftErr = uint32sOf(sorted.table.Column(0))
	j.right, rightErr = uint32sOf(sorted.table.Column(1))
	return errors.Join(leftErr, rightErr, o.waitIdle())
}
