package order

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Options configure the operators without further options.
type Options = kernels.Options

const scratchTag = op.ScratchTag

// ordering is rows and the keys that they are ordered by, for one call of an operator.
type ordering struct {
	call op.Call
	plan *rowkey.Plan
	// rows is the number of rows or, if counted has memory, their maximum. It is exact on
	// the host.
	rows    int
	counted memory.Slice[int64]
	// capacity is the length of results with a value for each row, and count their row
	// count, or nil.
	capacity int
	count    *column.RowCount
	// columns are the keys' columns, with references.
	columns []*column.Column
	sources []rowkey.Source
}

// begin prepares the rows of a table. The caller releases the ordering.
func begin(ctx context.Context, table *buffer.Buffer, keys []Key, options kernels.Options) (*ordering, error) {
	o, err := beginWhole(ctx, table, keys, options)
	if err != nil {
		return nil, err
	}
	return release.OnError(o, o.bound(), nil)
}

// beginWhole is begin without the bounds of integers, which belong to one table.
func beginWhole(ctx context.Context, table *buffer.Buffer, keys []Key, options kernels.Options) (*ordering, error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	if options.Manager == nil {
		options.Manager = table.Manager()
	}
	if err := checkRows(table.Capacity()); err != nil {
		return nil, err
	}
	columns, err := columnsOf(ctx, table, keys, options)
	if err != nil {
		return nil, err
	}
	o := &ordering{columns: columns}
	list := make([]rowkey.Key, len(keys))
	for i, key := range keys {
		list[i] = rowkey.Key{Column: columns[i], Descending: key.Descending, NullsFirst: key.NullsFirst}
	}
	rows, counted, err := table.Extent(ctx)
	if err == nil {
		err = o.prepare(ctx, list, int(table.Capacity()), int(rows), counted, table.RowCount(), options)
	}
	if err != nil {
		return nil, errors.Join(err, o.release())
	}
	return o, nil
}

// beginColumn prepares the rows of a column, which are ordered by their values.
func beginColumn(ctx context.Context, key rowkey.Key, options kernels.Options) (*ordering, error) {
	c := key.Column
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := checkRows(int64(c.Len())); err != nil {
		return nil, err
	}
	rows, counted, err := c.Extent(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.Retain(); err != nil {
		return nil, err
	}
	o := &ordering{columns: []*column.Column{c}}
	err = o.prepare(ctx, []rowkey.Key{key}, c.Len(), rows, counted, c.RowCount(), options)
	if err == nil {
		err = o.bound()
	}
	return release.OnError(o, err, nil)
}

// prepare begins the call and plans the keys. capacity, rows, counted and count describe
// the rows.
func (o *ordering) prepare(ctx context.Context, keys []rowkey.Key, capacity, rows int, counted memory.Slice[int64], count *column.RowCount, options kernels.Options) (err error) {
	if o.call, err = op.Begin(ctx, options, o.columns...); err != nil {
		return err
	}
	o.rows, o.capacity, o.count = rows, capacity, count
	if counted.Len() > 0 {
		o.counted = counted
		if !o.call.Estimating() {
			if err := counted.Order(o.call.Stream); err != nil {
				return err
			}
		}
	}
	if o.counted.Len() > 0 && o.call.OnHost() && !o.call.Estimating() { // an estimate does not wait
		known, err := count.Fetch(ctx)
		if err != nil {
			return err
		}
		o.rows, o.counted = int(known), memory.Slice[int64]{}
	}
	if o.sources, err = rowkey.Sources(keys); err != nil {
		return err
	}
	for i := range o.sources {
		if err := o.rank(&o.sources[i]); err != nil {
			return fmt.Errorf("key %d: %w", o.sources[i].Key, err)
		}
	}
	o.plan = rowkey.NewPlan(o.sources)
	return nil
}

// rank ranks the values of a source's dictionary, or the elements of its lists.
func (o *ordering) rank(s *rowkey.Source) (err error) {
	options := kernels.Options{Manager: o.call.Manager, Stream: o.call.Stream, Tag: scratchTag}
	switch s.Storage {
	case rowkey.Ranked:
		s.Ranks, err = o.ranksOf(s.Column.Dictionary(), s.InnerNullsFirst != s.Descending, true, options)
	case rowkey.Symbols:
		s.Ranks, err = o.ranksOf(s.Column.Child(0), s.InnerNullsFirst != s.Descending, false, options)
	}
	return err
}

// ranksOf returns the dense ranks of all elements of a column. If nullsZero is set, nulls
// have rank 0, and nullsFirst is about nulls in fields and elements.
func (o *ordering) ranksOf(c *column.Column, nullsFirst, nullsZero bool, options kernels.Options) (*column.Column, error) {
	if o.call.Estimating() {
		return nil, errNoEstimate
	}
	whole, err := c.SliceCapacity(0, c.Len())
	if err != nil {
		return nil, err
	}
	defer whole.Release()
	inner, err := beginColumn(o.call.Context(), rowkey.Key{Column: whole, NullsFirst: nullsFirst, OwnNullsFirst: nullsZero}, options)
	if err != nil {
		return nil, err
	}
	// The first source of a struct without nulls is a field.
	nullable := len(inner.sources) > 0 && inner.sources[0].Nullable && inner.sources[0].Column == whole
	ranks, err := inner.ranks(ranking{method: Dense, nullsZero: nullsZero && nullable})
	return ranks, errors.Join(err, inner.release())
}

func (o *ordering) release() error {
	return errors.Join(rowkey.Release(o.sources), release.All(o.columns))
}

// result describes a column with a value for each row.
func (o *ordering) result(t arrow.DataType) op.Result {
	return op.Result{Type: t, Length: o.capacity, RowCount: o.count}
}

// newColumn is op.Call.NewColumn, also for results without memory.
func (o *ordering) newColumn(r op.Result, write func(out op.Buffers) error) (*column.Column, error) {
	if r.Length == 0 {
		empty := make([]column.Bytes, 2)
		return column.New(column.Data{Type: r.Type, Rows: r.RowCount, Buffers: empty, Manager: o.call.Manager})
	}
	return o.call.NewColumn(r, write)
}
