package order

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// TopK returns the first k rows of a table in the order of the keys, or all rows if it
// has fewer: selection.Head of [Sort], without moving the other rows. The largest values
// come first for a key that is Descending.
//
// # Waiting
//
// TopK waits when [Sort] does, and once per level of nesting for strings and lists in the
// table, to learn their size.
//
// # Errors
//
// The errors are those of [Sort]. A negative k is an error that wraps
// device.ErrInvalidValue.
func TopK(ctx context.Context, table *buffer.Buffer, k int64, keys []Key, options ...Options) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("order: top %d: %w", k, err)
	}
	top, err := topTable(ctx, table, k, keys, only)
	if err != nil {
		return nil, fmt.Errorf("order: top %d: %w", k, err)
	}
	return top, nil
}

func topTable(ctx context.Context, table *buffer.Buffer, k int64, keys []Key, options kernels.Options) (*buffer.Buffer, error) {
	if options.Estimate != nil {
		return nil, estimateTop(ctx, table, k, keys, true, options)
	}
	scratch := options
	scratch.Tag = scratchTag
	rows, err := topIndices(ctx, table, k, keys, scratch)
	if err != nil {
		return nil, err
	}
	return take(ctx, table, rows, options, false)
}

// TopIndices returns the numbers of the rows of [TopK], in their order, as uint32. The
// caller releases the column.
func TopIndices(ctx context.Context, table *buffer.Buffer, k int64, keys []Key, options ...Options) (*column.Column, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("order: top %d indices: %w", k, err)
	}
	rows, err := topIndices(ctx, table, k, keys, only)
	if err != nil {
		return nil, fmt.Errorf("order: top %d indices: %w", k, err)
	}
	return rows, nil
}

func topIndices(ctx context.Context, table *buffer.Buffer, k int64, keys []Key, options kernels.Options) (*column.Column, error) {
	if options.Estimate != nil {
		return nil, estimateTop(ctx, table, k, keys, false, options)
	}
	if err := checkCount(k); err != nil {
		return nil, err
	}
	o, err := begin(ctx, table, keys, options)
	if err != nil {
		return nil, err
	}
	rows, err := o.first(k, options)
	return release.OnError(rows, err, o.release())
}

// estimateTop estimates the first rows of a table, or their numbers.
func estimateTop(ctx context.Context, table *buffer.Buffer, k int64, keys []Key, whole bool, options kernels.Options) error {
	if err := checkCount(k); err != nil {
		return err
	}
	o, err := begin(ctx, table, keys, options)
	if err != nil {
		return err
	}
	if !whole {
		table = nil
	}
	return errors.Join(o.estimateTop(k, table, options), o.release())
}

// first returns the numbers of the first k rows.
func (o *ordering) first(k int64, options kernels.Options) (*column.Column, error) {
	if k = min(k, int64(o.rows)); k == 0 {
		return o.newColumn(op.Result{Type: arrow.PrimitiveTypes.Uint32}, nil)
	}
	options.Stream, options.Manager = o.call.Stream, o.call.Manager
	if o.call.OnHost() {
		if rows, ok, err := o.firstOnHost(int(k)); ok || err != nil {
			return rows, err
		}
	} else if number, ok := o.selectable(k); ok {
		return o.selected(int(k), number, options)
	}
	rows, err := o.indices()
	if err != nil {
		return nil, err
	}
	first, err := firstRows(o.call.Context(), rows, k, options)
	return release.OnError(first, err, rows.Release())
}

// selectable reports whether the kernels of TopKColumn find the first rows in the same
// order: one key of numbers without nulls.
func (o *ordering) selectable(k int64) (number numbers.Type, ok bool) {
	if len(o.sources) != 1 || k == 0 || k > mostGathered {
		return number, false
	}
	s := &o.sources[0]
	number, ok = numbers.TypeOf(s.Column.Type())
	return number, ok && gathered(s.Column, int(k), number) && s.Column == o.columns[0] && s.Column.RowCount() == o.count && !s.Nullable
}

// selected returns the numbers of the first k rows as TopKColumn finds them. NaN is the
// largest number, and so comes first in a descending key.
func (o *ordering) selected(k int, number numbers.Type, options kernels.Options) (*column.Column, error) {
	s := &o.sources[0]
	nanFirst := number.Class == numbers.Float && s.Descending && !s.NaNLast
	top, err := topSelected(o.call.Context(), o.columns[0], k, number, nanFirst, TopOptions{Options: options, Smallest: !s.Descending})
	if err != nil {
		return nil, err
	}
	rows, err := narrowRows(o.call.Context(), top.Rows, options)
	return release.OnError(rows, err, top.Release())
}

// narrowRows returns row numbers of 64 bits as uint32.
func narrowRows(ctx context.Context, rows *column.Column, options kernels.Options) (*column.Column, error) {
	values, err := rows.Values() // without the bitmap: no row is null
	if err != nil {
		return nil, err
	}
	table, err := op.TableOf([]string{"row"}, []*column.Column{values}, buffer.Rows{Count: int64(values.Len()), Shared: values.RowCount(), Manager: values.Manager()})
	if err = errors.Join(err, values.Release()); err != nil {
		return nil, errors.Join(err, table.Release())
	}
	narrowed, err := expr.Evaluate(ctx, table, []expr.Expr{expr.Col("row").CastWrap(arrow.PrimitiveTypes.Uint32)}, options)
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, err
	}
	return narrowed[0], nil
}

// firstRows returns the first k rows of a column.
func firstRows(ctx context.Context, c *column.Column, k int64, options kernels.Options) (*column.Column, error) {
	table, err := op.TableOf([]string{"rows"}, []*column.Column{c}, buffer.Rows{Count: int64(c.Len()), Shared: c.RowCount()})
	if err != nil {
		return nil, err
	}
	defer table.Release()
	head, err := selection.Head(ctx, table, k, options)
	if err != nil {
		return nil, err
	}
	first := head.Column(0)
	return release.OnError(first, first.Retain(), head.Release())
}

// keyTable returns a table of the keys' columns, and the keys for it.
func keyTable(ctx context.Context, table *buffer.Buffer, keys []Key, options kernels.Options) (*buffer.Buffer, []Key, error) {
	if err := table.Check(); err != nil {
		return nil, nil, err
	}
	if err := checkRows(table.Capacity()); err != nil {
		return nil, nil, err
	}
	if options.Manager == nil {
		options.Manager = table.Manager()
	}
	columns, err := columnsOf(ctx, table, keys, options)
	if err != nil {
		return nil, nil, err
	}
	names, own := make([]string, len(keys)), make([]Key, len(keys))
	for i, key := range keys {
		names[i] = fmt.Sprint("key ", i)
		own[i] = Key{Column: names[i], Descending: key.Descending, NullsFirst: key.NullsFirst}
	}
	keyed, err := op.TableOf(names, columns, table.Rows())
	keyed, err = release.OnError(keyed, err, release.All(columns))
	return keyed, own, err
}
