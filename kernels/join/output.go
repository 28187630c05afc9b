package join

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	choices "github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// output makes the result of matches.
type output struct {
	*sides
	roles roles
	// reversed is set if the pairs are in the order of the right rows, and the result in that of the left ones.
	reversed bool
}

// pairsOf makes the rows of the result of matches, which it releases.
func (o *output) pairsOf(m *matches) (*joined, error) {
	m, err := o.refined(m)
	if err != nil {
		return nil, err
	}
	j, err := o.joined(m)
	if err = errors.Join(err, m.Release()); err != nil {
		return nil, errors.Join(err, j.Release())
	}
	return j, nil
}

// refined returns the matches that meet the condition, if there is one. It releases the
// given ones.
func (o *output) refined(m *matches) (*matches, error) {
	if o.options.Where.IsZero() {
		return m, nil
	}
	k := condition{o.sides, o.roles.probesRight}
	refined, err := k.refine(m)
	return release.OnError(refined, err, m.Release())
}

// joined makes the pairs of the kind.
func (o *output) joined(m *matches) (*joined, error) {
	extra := 0
	if o.roles.keepsBuild {
		extra = o.roles.build
	}
	p, err := m.expand(o.call, o.roles.form, extra)
	if err != nil {
		return nil, err
	}
	if o.roles.keepsBuild {
		if err := p.appendUnmatched(o.call, o.roles.build); err != nil {
			return nil, errors.Join(err, p.Release())
		}
	}
	return o.roles.sides(p), nil
}

// tableOf makes the table of matches, which it releases.
func (o *output) tableOf(m *matches) (*buffer.Buffer, error) {
	f := &pairFacts{tuning: tuningOf(o.Context()), form: o.roles.form, probe: m.probe, single: m.single, filters: o.selectsLeft()}
	if choosePairing(f).name == choices.FilteredRows {
		m, err := o.refined(m)
		if err != nil {
			return nil, err
		}
		filtered, err := o.filterLeft(m)
		return release.OnError(filtered, err, m.Release())
	}
	j, err := o.pairsOf(m)
	if err != nil {
		return nil, err
	}
	if o.reversed {
		if err := o.inLeftOrder(j); err != nil {
			return nil, errors.Join(err, j.Release())
		}
	}
	gathered, err := o.table(j)
	return release.OnError(gathered, err, j.Release())
}

// table gathers the columns of the result.
func (o *output) table(j *joined) (*buffer.Buffer, error) {
	var held release.Stack
	gathered, err := o.gather(&held, j)
	return release.OnError(gathered, err, held.Release())
}

// gather gathers columns, which held releases, and makes a table of them.
func (o *output) gather(held *release.Stack, j *joined) (*buffer.Buffer, error) {
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
	columns, err := o.gatherColumns(j, left, right)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		held.Add(c)
	}
	schema := o.result.schema(o.left.Schema(), o.right.Schema(), o.options.Kind)
	return op.Table(schema, columns, buffer.Rows{Count: int64(j.pairs.rows), Manager: o.Manager})
}

// sizeOfResult returns the memory of the columns of the result for messages.
func (o *output) sizeOfResult(j *joined) string {
	total, texts := uint64(0), false
	for _, c := range o.result.columns {
		if !c.selected {
			continue
		}
		from := o.left.Column(c.number)
		if c.right {
			from = o.right.Column(c.number)
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

// gatherColumns gathers the columns of the result, those of a table together.
func (o *output) gatherColumns(j *joined, left, right *column.Column) (columns []*column.Column, err error) {
	defer func() {
		if err != nil {
			columns, err = nil, errors.Join(err, release.All(columns))
		}
	}()
	sides := [2]gatheredSide{{rows: left, missing: j.leftMissing}, {rows: right, missing: j.rightMissing}}
	for _, c := range o.result.columns {
		if !c.selected {
			continue
		}
		number := len(columns)
		columns = append(columns, nil)
		if c.shared >= 0 && o.options.Kind == Full {
			if columns[number], err = o.gatherShared(c, left, right); err != nil {
				return columns, o.gatherError(j, fmt.Sprintf("column %q", c.name), err)
			}
			continue
		}
		from, fromRight := o.sourceOf(c)
		if o.shares(fromRight, j, from) {
			columns[number] = from
			if err = from.Retain(); err != nil {
				return columns[:number], err
			}
			continue
		}
		side := &sides[0]
		if fromRight {
			side = &sides[1]
		}
		side.add(number, c.name, from)
	}
	for i := range sides {
		if err = o.gatherSide(&sides[i], columns); err != nil {
			return columns, o.gatherError(j, sides[i].String(), err)
		}
	}
	return columns, nil
}

// gatherError returns an error about columns of the result.
func (o *output) gatherError(j *joined, columns string, err error) error {
	err = fmt.Errorf("%s: %w", columns, err)
	if errors.Is(err, memory.ErrBudget) {
		err = fmt.Errorf("the result has %d rows, and columns of %s: use Batches, or name fewer columns: %w", j.pairs.rows, o.sizeOfResult(j), err)
	}
	return err
}

// sourceOf returns the column that a column of the result is gathered from, and whether it is of the
// right table. A key with the name of its right key has the values of the right table in a right join.
func (o *output) sourceOf(c resultColumn) (from *column.Column, fromRight bool) {
	switch {
	case c.shared >= 0 && o.options.Kind == Right:
		return o.right.Column(c.shared), true
	case c.right:
		return o.right.Column(c.number), true
	}
	return o.left.Column(c.number), false
}

// gatheredSide has the columns of a table that are gathered.
type gatheredSide struct {
	rows    *column.Column
	missing bool
	// numbers are those of the columns of the result.
	numbers []int
	names   []string
	columns []*column.Column
}

func (s *gatheredSide) add(number int, name string, from *column.Column) {
	s.numbers, s.names, s.columns = append(s.numbers, number), append(s.names, name), append(s.columns, from)
}

// String names the columns.
func (s *gatheredSide) String() string {
	if len(s.names) == 1 {
		return fmt.Sprintf("column %q", s.names[0])
	}
	return fmt.Sprintf("columns %q", s.names)
}

// gatherSide gathers columns of one table. noRow is null if rows may be missing.
func (o *output) gatherSide(s *gatheredSide, to []*column.Column) error {
	taken, err := selection.TakeColumns(o.Context(), s.columns, s.rows, o.takeOptions(s.missing))
	for i, c := range taken {
		to[s.numbers[i]] = c
	}
	return err
}

// shares reports whether a column of the result is that of the table: if all rows are in
// it, in order, and their memory is of the manager of the result.
func (o *output) shares(fromRight bool, j *joined, from *column.Column) bool {
	return j.pairs.everyRow && fromRight == j.probesRight && from.Manager() == o.Manager
}

// take takes rows of a column, none of which is missing.
func (o *output) take(c, rows *column.Column) (*column.Column, error) {
	return selection.TakeColumnWith(o.Context(), c, rows, o.takeOptions(false))
}

// takeOptions are those of rows of which some may be missing: these are null.
func (o *output) takeOptions(missing bool) selection.TakeOptions {
	bounds := selection.Trust
	if missing {
		bounds = selection.Null
	}
	return selection.TakeOptions{Options: o.resultOptions(), Bounds: bounds, Distinct: o.options.Kind.leftOnly()}
}

// gatherShared gathers a key of a full join from both tables, in one type: the right rows
// are behind the left ones in a concatenation of both.
func (o *output) gatherShared(c resultColumn, left, right *column.Column) (*column.Column, error) {
	if err := checkSide("concatenated", o.left.Capacity()+o.right.Capacity()); err != nil {
		return nil, err
	}
	a, b, err := unify(o.Context(), o.left.Column(c.number), o.right.Column(c.shared), o.scratch())
	if err != nil {
		return nil, err
	}
	both, err := selection.ConcatColumns(o.Context(), []*column.Column{a, b}, o.scratch())
	if both, err = release.OnError(both, err, a.Release(), b.Release()); err != nil {
		return nil, err
	}
	if left.Len() == 0 {
		taken, err := o.take(both, left)
		return release.OnError(taken, err, both.Release())
	}
	block, slices, err := o.uint32s(left.Len())
	if err != nil {
		return nil, errors.Join(err, both.Release())
	}
	taken, err := o.takeShared(both, left, right, slices[0])
	return release.OnError(taken, err, both.Release(), block.Release())
}

// takeShared takes the left rows of both tables' keys and, if they are missing, the right rows.
func (o *output) takeShared(both, left, right *column.Column, to memory.Slice[uint32]) (*column.Column, error) {
	lefts, leftErr := uint32sOf(left)
	rights, rightErr := uint32sOf(right)
	err, behind := errors.Join(leftErr, rightErr, o.waitIdle()), uint32(rowsOf(o.left))
	switch {
	case err != nil:
	case o.OnHost():
		err = sharedOnHost(o.call, to, lefts, rights, behind)
	default:
		err = o.launch("pairs", "shared_rows", to.Len(), to, lefts, rights, behind, uint64(to.Len()))
	}
	if err != nil {
		return nil, err
	}
	rows, err := selection.RowNumbers(to, nil)
	if err != nil {
		return nil, err
	}
	taken, err := o.take(both, rows)
	return release.OnError(taken, err, rows.Release())
}

// sharedOnHost writes the left rows and, if they are missing, the right rows, counted from
// the end of the left ones.
func sharedOnHost(c *call, out, left, right memory.Slice[uint32], behind uint32) error {
	to, toErr := out.Host()
	lefts, leftErr := left.Host()
	rights, rightErr := right.Host()
	if err := errors.Join(toErr, leftErr, rightErr); err != nil {
		return err
	}
	return c.each(len(to), func(begin, end int) {
		for i := begin; i < end; i++ {
			if to[i] = lefts[i]; to[i] == noRow {
				to[i] = behind + rights[i]
			}
		}
	})
}
