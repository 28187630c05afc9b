package group

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// members are the values that an aggregate reads, with the number of each one's group.
type members struct {
	aggregation *aggregation
	o           *output
	// rows is a table of the numbers and the values, without rows for which the condition is not
	// true, and without nulls if the aggregate skips them.
	rows *buffer.Buffer

	owned release.Stack
}

// memberName names the columns of members: number 0 is that of the group.
func memberName(i int) string { return keyName(i) }

// segment computes an aggregate of all values of each group.
func (r *aggregation) segment(o *output) (*column.Column, error) {
	m := &members{aggregation: r, o: o}
	err := m.find()
	var c *column.Column
	if err == nil {
		c, err = m.result()
	}
	return release.OnError(c, err, m.owned.Release())
}

func (m *members) result() (*column.Column, error) {
	switch m.o.aggregate.function {
	case countDistinct:
		return m.distinct()
	case mode:
		return m.mode()
	case collect:
		return m.collect()
	case join:
		return m.join()
	case fold:
		return m.fold()
	case largest, smallest:
		return m.findValues(extremeFinders)
	}
	return m.findValues(quantileFinders)
}

// errUnselected is the error of a strategy for values of which equal ones have different bits, or that are too many.
var errUnselected = errors.New("the values have to be sorted")

// findValues computes an aggregate by the strategy that is chosen for its facts.
func (m *members) findValues(table []valueFinder) (*column.Column, error) {
	r := m.aggregation
	f := valueFacts{
		tuning: tuningOf(r.call.Context()), onHost: r.call.OnHost(), rows: int(m.rows.Capacity()), groups: r.groups.capacity(),
		limit: m.o.aggregate.limit, bounded: r.options.MaxGroups != 0,
	}
	stored, err := formOfType(m.rows.Column(1).Type())
	f.plain = err == nil && stored.bytes() > 0
	c, err := chooseValues(table, &f).find(m)
	if errors.Is(err, errUnselected) {
		return table[len(table)-1].find(m)
	}
	return c, err
}

// find makes the table of members.
func (m *members) find() error {
	r, o := m.aggregation, m.o
	if o.collected {
		return m.flatten()
	}
	if err := r.groups.fill(&r.call); err != nil {
		return err
	}
	numbers, err := selection.RowNumbers(r.groups.numbers, r.rows.RowCount())
	if err != nil {
		return err
	}
	m.owned.Add(numbers)
	names, columns := []string{memberName(0)}, []*column.Column{numbers}
	var condition expr.Expr
	for i, number := range append([]int{o.value}, o.others...) {
		c, err := r.input(number)
		if err != nil {
			return err
		}
		names, columns = append(names, memberName(1+i)), append(columns, c)
		if c.NullCount() != 0 && !o.aggregate.keepsNulls() {
			condition = both(condition, expr.Col(memberName(1+i)).IsValid())
		}
	}
	if o.where >= 0 {
		c, err := r.input(o.where)
		if err != nil {
			return err
		}
		names, columns = append(names, whereName), append(columns, c)
		condition = both(condition, expr.Col(whereName))
	}
	rows, err := op.TableOf(names, columns, r.rows.Rows())
	if err != nil {
		return err
	}
	if condition.IsZero() {
		m.own(rows)
		return nil
	}
	kept, err := selection.Filter(r.call.Context(), rows, condition, r.scratch())
	if kept, err = release.OnError(kept, err, rows.Release()); err != nil {
		return err
	}
	m.own(kept)
	return nil
}

// both returns the conjunction of conditions of which the first may be missing.
func both(a, b expr.Expr) expr.Expr {
	if a.IsZero() {
		return b
	}
	return a.AndStrict(b)
}

// own sets the table of members.
func (m *members) own(rows *buffer.Buffer) {
	m.rows = rows
	m.owned.Add(rows)
}

// grouping returns the groups of a table with their numbers in column 0. It has the memory
// of the table.
func (m *members) grouping(rows *buffer.Buffer) (*grouping, error) {
	n, counted, err := rows.Extent(m.aggregation.call.Context())
	if err != nil {
		return nil, err
	}
	g := &grouping{rows: int(n), counted: counted, keys: m.aggregation.groups.keys}
	region, err := rows.Column(0).ValuesRegion()
	if err == nil {
		g.numbers, err = memory.Reinterpret[uint32](region)
	}
	if err == nil && m.aggregation.call.OnHost() && counted.Len() > 0 {
		var known int64
		known, err = rows.NumRows(m.aggregation.call.Context())
		g.rows = int(known)
	}
	return g, err
}

// accumulate returns the state of one accumulator for the groups of a table.
func (m *members) accumulate(g *grouping, a accumulator, value *column.Column) (*states, error) {
	a.other, a.where = -1, -1
	s, err := accumulateAll(&m.aggregation.call, g, []accumulator{a}, func(int) (*column.Column, error) { return value, nil }, nil, statesApart(m.aggregation.call.Scratch))
	if err == nil {
		m.owned.Add(s)
	}
	return s, err
}

// counts returns the number of rows of each group of a table, as int64.
func (m *members) counts(rows *buffer.Buffer) (*column.Column, error) {
	g, err := m.grouping(rows)
	if err != nil {
		return nil, err
	}
	s, err := m.accumulate(g, accumulator{kind: countRows, value: -1}, nil)
	if err != nil {
		return nil, err
	}
	return m.numbersOf(s)
}

// numbersOf returns states of one word as a column of int64.
func (m *members) numbersOf(s *states) (*column.Column, error) {
	c, err := column.New(column.Data{
		Type: arrow.PrimitiveTypes.Int64, Length: s.capacity, Buffers: []column.Bytes{{}, s.lists[0]}, Manager: m.aggregation.call.Manager,
	})
	if err == nil {
		m.owned.Add(c)
	}
	return c, err
}

// ends returns the end of each group's rows, if the rows are sorted by group.
func (m *members) ends(counts *column.Column) (*column.Column, error) {
	ends, err := window.CumulativeSum(m.aggregation.call.Context(), counts, window.Options{Options: m.aggregation.scratch()})
	if err == nil {
		m.owned.Add(ends)
	}
	return ends, err
}

// sortedColumn returns a column of the members with their groups, sorted by group, and by value if
// the key is given.
func (m *members) sortedColumn(number int, key ...order.Key) (*buffer.Buffer, error) {
	keys := append([]order.Key{{Column: memberName(0)}}, key...)
	rows, err := m.rows.Select(memberName(0), memberName(number))
	if err != nil {
		return nil, err
	}
	sorted, err := order.Sort(m.aggregation.call.Context(), rows, keys, m.aggregation.scratch())
	if sorted, err = release.OnError(sorted, err, rows.Release()); err == nil {
		m.owned.Add(sorted)
	}
	return sorted, err
}

// distinct counts the distinct values of each group.
func (m *members) distinct() (*column.Column, error) {
	gathered := m.rows.NumColumns()
	if m.aggregation.call.OnHost() {
		gathered = 1 // the number of the group is enough
	}
	pairs, err := m.subgroups(gathered)
	if err != nil {
		return nil, err
	}
	counts, err := m.counts(pairs.keys)
	if err != nil {
		return nil, err
	}
	data := counts.Data()
	data.Rows = m.aggregation.groups.keys.RowCount()
	return column.New(data)
}

// subgroups groups the members by group and value. The groups have the first columns of their keys, at least one.
func (m *members) subgroups(gathered int) (*grouping, error) {
	keys := 2 + len(m.o.others)
	pairs, err := findGroups(&m.aggregation.call, m.rows, keys, min(gathered, keys), ByOptions{}, nil, true)
	if err == nil {
		m.owned.Add(pairs)
	}
	return pairs, err
}

// mode returns the first of the most frequent values of each group.
func (m *members) mode() (*column.Column, error) {
	pairs, err := m.subgroups(2 + len(m.o.others))
	if err != nil {
		return nil, err
	}
	frequencies, err := m.accumulate(pairs, accumulator{kind: countRows, value: -1}, nil)
	if err != nil {
		return nil, err
	}
	counts, err := m.numbersOf(frequencies)
	if err != nil {
		return nil, err
	}
	g, err := m.grouping(pairs.keys)
	if err != nil {
		return nil, err
	}
	most, err := m.accumulate(g, accumulator{kind: firstGreatest, value: 0}, counts)
	if err != nil {
		return nil, err
	}
	r := m.aggregation
	f := finishing{finish: finishRow, states: most.lists, words: []int{2}, form: fromU32, groups: most.capacity}
	rows, err := r.newScratch(op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: f.groups, RowCount: r.groups.keys.RowCount(), Nullable: true}, func(out op.Buffers) error {
		if r.call.OnHost() {
			return f.onHost(r.call.Context(), out)
		}
		return f.onDevice(&r.call, out)
	})
	if err != nil {
		return nil, err
	}
	m.owned.Add(rows)
	return r.take(pairs.keys.Column(1), rows, r.call.Tag, selection.Trust)
}

// sortQuantile interpolates between two of the sorted values of each group.
func (m *members) sortQuantile() (*column.Column, error) {
	sorted, err := m.ordered(false)
	if err != nil {
		return nil, err
	}
	values, err := sourceOf(&m.aggregation.call, m.rows.Column(1))
	if err != nil {
		return nil, err
	}
	q := quantiles{values: values, rows: sorted.rows, fraction: m.o.aggregate.quantile, groups: sorted.ends.Len()}
	if q.ends, err = wordsOf(sorted.ends); err != nil {
		return nil, err
	}
	r := m.aggregation
	return newColumn(&r.call, op.Result{Type: m.o.dataType, Length: q.groups, RowCount: r.groups.keys.RowCount(), Nullable: true}, func(out op.Buffers) error {
		if r.call.OnHost() {
			return q.onHost(out)
		}
		return q.onDevice(&r.call, out)
	})
}

// extents returns the numbers and the ends of the rows of each group.
func (m *members) extents(sorted *buffer.Buffer) (counts, ends *column.Column, err error) {
	if counts, err = m.counts(sorted); err != nil {
		return nil, nil, err
	}
	ends, err = m.ends(counts)
	return counts, ends, err
}

// words returns two columns of 64-bit numbers as memory.
func words(a, b *column.Column) (x, y memory.Slice[uint64], err error) {
	for _, target := range []struct {
		c  *column.Column
		to *memory.Slice[uint64]
	}{{a, &x}, {b, &y}} {
		region, err := target.c.ValuesRegion()
		if err != nil {
			return x, y, err
		}
		if *target.to, err = memory.Reinterpret[uint64](region); err != nil {
			return x, y, err
		}
	}
	return x, y, nil
}

// quantiles computes a quantile of each group of values with sorted row numbers.
type quantiles struct {
	values   source
	rows     memory.Slice[uint32]
	ends     memory.Slice[uint64]
	fraction float64
	groups   int
}

func (q *quantiles) onHost(out op.Buffers) error {
	to, err := out.Host()
	if err != nil {
		return err
	}
	values, valuesErr := q.values.host()
	rows, rowsErr := q.rows.Host()
	ends, endsErr := q.ends.Host()
	if err := errors.Join(valuesErr, rowsErr, endsErr); err != nil {
		return err
	}
	results, end := op.Elements[uint64](to.Values), uint64(0)
	for i := range ends {
		begin := end
		end = ends[i]
		n := end - begin
		results[i] = 0
		if n == 0 {
			continue
		}
		to.SetValid(i)
		position := float64(float64(n-1) * q.fraction)
		below := uint64(position)
		fraction := position - float64(below)
		row := begin + below
		x := values.float(int(rows[row]))
		if fraction > 0 && below+1 < n {
			x = aggregate.Interpolate(x, values.float(int(rows[row+1])), fraction)
		}
		results[i] = realBits(x)
	}
	return nil
}

// collect returns the list of the values of each group.
func (m *members) collect() (*column.Column, error) { return m.collectColumn(1) }

// collectColumn returns the list of the values of a column of the members.
func (m *members) collectColumn(number int) (*column.Column, error) {
	sorted, err := m.sortedColumn(number)
	if err != nil {
		return nil, err
	}
	_, ends, err := m.extents(sorted)
	if err != nil {
		return nil, err
	}
	return m.list(sorted, ends)
}

// list returns lists of the values of a table that is sorted by group.
func (m *members) list(sorted *buffer.Buffer, ends *column.Column) (*column.Column, error) {
	return m.listOf(sorted.Column(1), ends)
}

// listOf returns lists of values that end at ends. The lists have 32-bit offsets, also those of values that
// came in lists with 64-bit ones.
func (m *members) listOf(c *column.Column, ends *column.Column) (*column.Column, error) {
	values, err := m.exactValues(c)
	if err != nil {
		return nil, err
	}
	if values.Len() > math.MaxInt32 {
		return nil, fmt.Errorf("%d values, lists with 32-bit offsets hold at most %d: aggregate parts of the table: %w",
			values.Len(), math.MaxInt32, device.ErrNotSupported)
	}
	r := m.aggregation
	offsets, err := m.offsets(ends)
	if err != nil {
		return nil, err
	}
	return column.New(column.Data{
		Type: arrow.ListOf(values.Type()), Length: ends.Len(), Rows: r.groups.keys.RowCount(), Manager: r.call.Manager,
		Buffers: []column.Bytes{{}, offsets.Buffer(1)}, Children: []*column.Column{values},
	})
}

// exactValues returns the values of a column of members in memory of their size. It waits
// for their number.
func (m *members) exactValues(c *column.Column) (*column.Column, error) {
	r := m.aggregation
	only, err := c.WithHostRows(r.call.Context())
	if err != nil {
		return nil, err
	}
	exact, err := selection.CompactColumn(r.call.Context(), only, r.resultOptions())
	if exact, err = release.OnError(exact, err, only.Release()); err == nil {
		m.owned.Add(exact)
	}
	return exact, err
}

// offsets returns the offsets of lists that end at ends, as int32.
func (m *members) offsets(ends *column.Column) (*column.Column, error) {
	region, err := ends.ValuesRegion()
	if err != nil {
		return nil, err
	}
	r := m.aggregation
	c, err := newColumn(&r.call, op.Result{Type: arrow.PrimitiveTypes.Int32, Length: ends.Len() + 1}, func(out op.Buffers) error {
		if !r.call.OnHost() {
			return offsetsOnDevice(&r.call, out, region, ends.Len())
		}
		from, err := region.Host()
		if err != nil {
			return err
		}
		to, err := out.Host()
		if err != nil {
			return err
		}
		offsets := op.Elements[int32](to.Values)
		offsets[0] = 0
		for i, end := range op.Elements[uint64](from) {
			offsets[i+1] = int32(end)
		}
		return nil
	})
	if err == nil {
		m.owned.Add(c)
	}
	return c, err
}

// sortExtremes returns the largest or the smallest of the sorted values of each group.
func (m *members) sortExtremes() (*column.Column, error) {
	sorted, err := m.ordered(m.o.aggregate.function == largest)
	if err != nil {
		return nil, err
	}
	return m.firstValues(sorted, uint64(m.o.aggregate.limit))
}

// firstOfEach returns whether each row is among the first rows of its group, up to a limit.
func (m *members) firstOfEach(sorted *buffer.Buffer, counts, ends *column.Column, limit uint64) (*column.Column, error) {
	r := m.aggregation
	g, err := m.grouping(sorted)
	if err != nil {
		return nil, err
	}
	n, last, err := words(counts, ends)
	if err != nil {
		return nil, err
	}
	result := op.Result{Type: arrow.FixedWidthTypes.Boolean, Length: int(sorted.Capacity()), RowCount: sorted.RowCount()}
	mask, err := r.newScratch(result, func(out op.Buffers) error {
		if !r.call.OnHost() {
			return firstOfEachOnDevice(&r.call, out, g, n, last, limit)
		}
		to, err := out.Host()
		numbers, numbersErr := g.numbers.Host()
		groupCounts, countsErr := n.Host()
		groupEnds, endsErr := last.Host()
		if err := errors.Join(err, numbersErr, countsErr, endsErr); err != nil {
			return err
		}
		clear(to.Values)
		for row, number := range numbers[:g.rows] {
			if int(number) < len(groupEnds) && uint64(row)-(groupEnds[number]-groupCounts[number]) < limit {
				to.SetTrue(row)
			}
		}
		return nil
	})
	if err == nil {
		m.owned.Add(mask)
	}
	return mask, err
}
