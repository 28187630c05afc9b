package join

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// keyTable returns a table of keys, which held releases.
func (r *run) keyTable(held *release.Stack, columns []*column.Column) (*buffer.Buffer, []order.Key, error) {
	keys, names := orderKeys(len(columns)), make([]string, len(columns))
	for i := range columns {
		names[i] = keys[i].Column
	}
	table, err := tableOf(names, columns, buffer.Rows{Count: int64(columns[0].Len())})
	if err == nil {
		held.Add(table)
	}
	return table, keys, err
}

// orderKeys returns the keys of such a table.
func orderKeys(n int) []order.Key {
	keys := make([]order.Key, n)
	for i := range keys {
		keys[i].Column = fmt.Sprint("key ", i)
	}
	return keys
}

// sortedRows are the rows of a table in the order of keys.
type sortedRows struct {
	table *buffer.Buffer
	// rows are the numbers of the rows, as uint32.
	rows *column.Column
}

// sorted sorts a table. Rows with equal keys keep their order.
func (r *run) sorted(held *release.Stack, table *buffer.Buffer, keys []order.Key) (*sortedRows, error) {
	rows, err := order.Indices(r.call.Context(), table, keys, r.building())
	if err != nil {
		return nil, err
	}
	held.Add(rows)
	ordered, err := selection.TakeWith(r.call.Context(), table, rows, selection.TakeOptions{Options: r.building(), Bounds: selection.Trust, Distinct: true})
	if err != nil {
		return nil, err
	}
	held.Add(ordered)
	return &sortedRows{table: ordered, rows: rows}, nil
}

// places returns, for each row of values, the number of sorted rows before it, as uint32.
// If upper is set these include equal rows.
func (r *run) places(held *release.Stack, sorted, values *buffer.Buffer, keys []order.Key, upper bool) (*column.Column, error) {
	ranks, err := order.Search(r.call.Context(), sorted, values, keys, order.SearchOptions{Options: r.scratch(), Upper: upper, Unchecked: true})
	if err == nil {
		held.Add(ranks)
	}
	return ranks, err
}

// validKeys returns booleans that are false for rows with a null in any column, or nil if no key
// is null or nulls match.
func (r *run) validKeys(held *release.Stack, keys *buffer.Buffer) (*column.Column, error) {
	if r.options.NullsEqual || keys.Capacity() == 0 {
		return nil, nil
	}
	var all expr.Expr
	for i := range keys.NumColumns() {
		c := keys.Column(i)
		if !op.Nullable(c) && (c.Dictionary() == nil || c.Dictionary().NullCount() == 0) && c.NullCount() == 0 {
			continue
		}
		if valid := expr.Col(keys.Schema().Field(i).Name).IsValid(); all.IsZero() {
			all = valid
		} else {
			all = all.AndStrict(valid)
		}
	}
	if all.IsZero() {
		return nil, nil
	}
	allValid, err := expr.Evaluate(r.call.Context(), keys, []expr.Expr{all}, r.scratch())
	if err != nil {
		return nil, err
	}
	held.Add(allValid[0])
	return allValid[0], nil
}

// between returns matches with the sorted rows from low up to high, and none for rows
// that are not valid.
func (r *run) between(low, high, valid *column.Column, s *sortedRows) (*matches, error) {
	m, err := r.newMatches(low.Len(), s.rows.Len())
	if err != nil {
		return nil, err
	}
	if err := r.fillBetween(m, low, high, valid, s); err != nil {
		return nil, errors.Join(err, m.Release())
	}
	return m, nil
}

func (r *run) fillBetween(m *matches, low, high, valid *column.Column, s *sortedRows) (err error) {
	if err := s.rows.Retain(); err != nil {
		return err
	}
	m.held.Add(s.rows)
	if m.list, err = uint32sOf(s.rows); err != nil {
		return err
	}
	return r.fillSpans(m, low, high, valid)
}

// fillSpans makes matches of the places from low up to high, and none for rows that are
// not valid.
func (r *run) fillSpans(m *matches, low, high, valid *column.Column) error {
	lows, lowErr := uint32sOf(low)
	highs, highErr := uint32sOf(high)
	if err := errors.Join(lowErr, highErr, r.waitIdle()); err != nil || m.probe == 0 {
		return err
	}
	var bits memory.Slice[uint8]
	if valid != nil {
		bits = valid.Buffer(1)
	}
	if err := errors.Join(m.first.CopyFrom(r.call.Stream, lows), r.waitIdle()); err != nil {
		return err
	}
	if r.call.OnHost() {
		return r.spansOnHost(m.count, lows, highs, bits)
	}
	return r.spansOnDevice(m.count, lows, highs, bits)
}

// uint32sOf returns the values of a column of uint32.
func uint32sOf(c *column.Column) (memory.Slice[uint32], error) {
	if c.Len() == 0 {
		return memory.Slice[uint32]{}, nil
	}
	return column.Elements[uint32](c)
}
