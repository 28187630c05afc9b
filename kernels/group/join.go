package group

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// join returns the concatenated strings of each group, with separators between them:
// all strings but the first of each group begin with the separator, so that the bytes of a
// group are the result.
func (m *members) join() (*column.Column, error) {
	sorted, err := m.sortedColumn(1)
	if err != nil {
		return nil, err
	}
	counts, ends, err := m.extents(sorted)
	if err != nil {
		return nil, err
	}
	first, err := m.firstOfEach(sorted, counts, ends, 1)
	if err != nil {
		return nil, err
	}
	texts, err := m.separated(sorted, first)
	if err != nil {
		return nil, err
	}
	begins, err := m.offsets(ends)
	if err != nil {
		return nil, err
	}
	offsets, err := m.textOffsets(texts, begins)
	if err != nil {
		return nil, err
	}
	valid, err := m.nonzero(counts)
	if err != nil {
		return nil, err
	}
	r := m.aggregation
	data := column.Data{
		Type: m.o.dataType, Length: counts.Len(), Rows: r.groups.keys.RowCount(), NullCount: column.UnknownNullCount, Manager: r.call.Manager,
		Buffers: []column.Bytes{valid.Buffer(1), offsets.Buffer(1), texts.Buffer(2)},
	}
	return column.New(data)
}

// separated returns the values in memory of their size, with a separator before those that are
// not the first of their group.
func (m *members) separated(sorted *buffer.Buffer, first *column.Column) (*column.Column, error) {
	r := m.aggregation
	const text, isFirst = "text", "first"
	both, err := op.TableOf([]string{text, isFirst}, []*column.Column{sorted.Column(1), first}, sorted.Rows())
	if err != nil {
		return nil, err
	}
	exact, err := selection.Compact(r.call.Context(), both, r.resultOptions())
	if exact, err = release.OnError(exact, err, both.Release()); err != nil {
		return nil, err
	}
	m.owned.Add(exact)
	values := exact.Column(0)
	separator := m.o.aggregate.separator
	if separator == "" || values.Len() == 0 {
		return values, nil
	}
	joined, err := expr.Evaluate(r.call.Context(), exact, []expr.Expr{expr.Concat(expr.Lit(separator), expr.Col(text))}, r.scratch())
	if err != nil {
		return nil, err
	}
	m.owned.Add(joined[0])
	chosen, err := selection.Choose(r.call.Context(), exact.Column(1), values, joined[0], r.resultOptions())
	if err == nil {
		m.owned.Add(chosen)
	}
	return chosen, err
}

// textOffsets returns the offsets of the texts that begin the groups.
func (m *members) textOffsets(texts, begins *column.Column) (*column.Column, error) {
	if texts.Len() == 0 {
		return begins, nil // zeros
	}
	region, err := texts.Buffer(1).Slice(4*texts.Offset(), 4*(texts.Offset()+texts.Len()+1))
	if err != nil {
		return nil, err
	}
	all, err := column.New(column.Data{
		Type: arrow.PrimitiveTypes.Int32, Length: texts.Len() + 1, Buffers: []column.Bytes{{}, region}, Manager: m.aggregation.call.Manager,
	})
	if err != nil {
		return nil, err
	}
	taken, err := m.aggregation.take(all, begins, m.aggregation.call.Tag, selection.Trust)
	if taken, err = release.OnError(taken, err, all.Release()); err == nil {
		m.owned.Add(taken)
	}
	return taken, err
}

// nonzero returns whether each count is not 0.
func (m *members) nonzero(counts *column.Column) (*column.Column, error) {
	const count = "count"
	table, err := op.TableOf([]string{count}, []*column.Column{counts}, buffer.Rows{Count: int64(counts.Len()), Manager: m.aggregation.call.Manager})
	if err != nil {
		return nil, err
	}
	masks, err := expr.Evaluate(m.aggregation.call.Context(), table, []expr.Expr{expr.Col(count).Gt(expr.Lit(int64(0)))}, m.aggregation.resultOptions())
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, err
	}
	m.owned.Add(masks[0])
	return masks[0], nil
}
