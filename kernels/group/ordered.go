package group

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// orderedMembers are the row numbers of members sorted by group and value. Results that take a few
// values of each group gather only these: gathering both columns takes as long as half of the sort.
type orderedMembers struct {
	rows memory.Slice[uint32]
	// ends has the end of each group's rows.
	ends *column.Column
}

// ordered sorts the numbers of the members by group, then by value.
func (m *members) ordered(descending bool) (o orderedMembers, err error) {
	r := m.aggregation
	sorted, err := order.Indices(r.call.Context(), m.rows, []order.Key{{Column: memberName(0)}, {Column: memberName(1), Descending: descending}}, r.scratch())
	if err != nil {
		return o, err
	}
	m.owned.Add(sorted)
	region, err := sorted.ValuesRegion()
	if err != nil {
		return o, err
	}
	if o.rows, err = memory.Reinterpret[uint32](region); err != nil {
		return o, err
	}
	o.ends, err = m.endsOf(o.rows)
	return o, err
}

// endsOf returns the end of each group's rows in the sorted rows. A GPU searches for them, the host counts
// the rows of each group.
func (m *members) endsOf(rows memory.Slice[uint32]) (*column.Column, error) {
	r := m.aggregation
	if r.call.OnHost() || rows.Len() == 0 {
		counts, err := m.counts(m.rows)
		if err != nil {
			return nil, err
		}
		return m.ends(counts)
	}
	g, err := m.grouping(m.rows)
	if err != nil {
		return nil, err
	}
	groups := r.groups.capacity()
	ends, err := r.newScratch(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: groups}, func(out op.Buffers) error {
		return launchRows(&r.call, "rows", "ends_of_groups", groups, out.Values, rows, g.numbers, uint64(groups), g.counted, int64(g.rows))
	})
	if err == nil {
		m.owned.Add(ends)
	}
	return ends, err
}

// wordsOf returns a column of 64-bit numbers as memory.
func wordsOf(c *column.Column) (memory.Slice[uint64], error) {
	region, err := c.ValuesRegion()
	if err != nil {
		return memory.Slice[uint64]{}, err
	}
	return memory.Reinterpret[uint64](region)
}

// firstValues returns lists of the first values of each group, at most a limit.
func (m *members) firstValues(o orderedMembers, limit uint64) (*column.Column, error) {
	keptEnds, err := m.keptEnds(o.ends, limit)
	if err != nil {
		return nil, err
	}
	rows, err := m.listFirsts(o, keptEnds)
	if err != nil {
		return nil, err
	}
	r := m.aggregation
	options := selection.TakeOptions{Options: r.scratch(), Bounds: selection.Trust, Distinct: true}
	values, err := selection.TakeColumnWith(r.call.Context(), m.rows.Column(1), rows, options)
	if err != nil {
		return nil, err
	}
	m.owned.Add(values)
	return m.listOf(values, keptEnds)
}

// keptEnds returns the ends of groups of which a limited number of rows is kept.
func (m *members) keptEnds(ends *column.Column, limit uint64) (*column.Column, error) {
	r, groups := m.aggregation, ends.Len()
	from, err := wordsOf(ends)
	if err != nil {
		return nil, err
	}
	kept, err := r.newScratch(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: groups}, func(out op.Buffers) error {
		if !r.call.OnHost() {
			return launchRows(&r.call, "rows", "limit_counts", groups, out.Values, from, limit, uint64(groups))
		}
		to, err := out.Host()
		ends, endsErr := from.Host()
		if err := errors.Join(err, endsErr); err != nil {
			return err
		}
		begin := uint64(0)
		for i, counts := 0, op.Elements[uint64](to.Values); i < groups; i++ {
			counts[i], begin = min(ends[i]-begin, limit), ends[i]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.owned.Add(kept)
	return m.ends(kept)
}

// listFirsts returns the numbers of the rows that are kept of each group.
func (m *members) listFirsts(o orderedMembers, keptEnds *column.Column) (*column.Column, error) {
	r, groups := m.aggregation, keptEnds.Len()
	if groups == 0 {
		return selection.RowNumbers(memory.Slice[uint32]{}, nil)
	}
	ends, endsErr := wordsOf(o.ends)
	kept, count, keptErr := m.lastEnd(keptEnds)
	if err := errors.Join(endsErr, keptErr); err != nil {
		return nil, err
	}
	rows, err := r.newScratch(op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: m.keptRows(groups), RowCount: count}, func(out op.Buffers) error {
		if !r.call.OnHost() {
			return launchRows(&r.call, "rows", "list_first_rows", groups*warpThreads, out.Values, o.rows, ends, kept, uint64(groups))
		}
		return listFirstsOnHost(out, o.rows, ends, kept)
	})
	if err == nil {
		m.owned.Add(rows)
	}
	return rows, err
}

// lastEnd returns ends of groups as memory, and the last of them as the number of the rows that are kept of all
// groups.
func (m *members) lastEnd(ends *column.Column) (words memory.Slice[uint64], count *column.RowCount, err error) {
	if words, err = wordsOf(ends); err != nil {
		return words, nil, err
	}
	groups := words.Len()
	last, err := words.Slice(groups-1, groups)
	if err != nil {
		return words, nil, err
	}
	number, err := memory.Reinterpret[int64](last.AsBytes())
	if err != nil {
		return words, nil, err
	}
	if count, err = column.NewRowCount(number, int64(m.keptRows(groups))); err == nil {
		m.owned.Add(count)
	}
	return words, count, err
}

// keptRows is the most rows that are kept of a number of groups.
func (m *members) keptRows(groups int) int {
	limit, rows := m.o.aggregate.limit, int(m.rows.Capacity())
	if limit > rows/groups {
		return rows
	}
	return limit * groups
}

func listFirstsOnHost(out op.Buffers, rows memory.Slice[uint32], ends, keptEnds memory.Slice[uint64]) error {
	to, err := out.Host()
	from, rowsErr := rows.Host()
	end, endsErr := ends.Host()
	keptEnd, keptErr := keptEnds.Host()
	if err := errors.Join(err, rowsErr, endsErr, keptErr); err != nil {
		return err
	}
	list, begin, keptBegin := op.Elements[uint32](to.Values), uint64(0), uint64(0)
	for i := range end {
		n := keptEnd[i] - keptBegin
		copy(list[keptBegin:keptEnd[i]], from[begin:begin+n])
		begin, keptBegin = end[i], keptEnd[i]
	}
	return nil
}
