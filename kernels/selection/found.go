package selection

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Found are the rows of a table that meet a condition, before they are copied. It borrows the table.
type Found struct {
	table *buffer.Buffer
	mask  *column.Column
	rows  int64
}

// Find finds the rows that [Filter] would keep, and counts them. [Found.Copy] copies them to memory for as many rows: a
// filter takes memory for all rows of the table, because it does not wait for their number.
//
// # Waiting
//
// Find waits for the number of rows.
//
// # Ownership
//
// The caller releases the result, and the table after it.
func Find(ctx context.Context, table *buffer.Buffer, predicate expr.Expr, options ...kernels.Options) (*Found, error) {
	return operation("find rows", options, func(only kernels.Options) (*Found, error) {
		return find(ctx, table, predicate, only)
	})
}

func find(ctx context.Context, table *buffer.Buffer, predicate expr.Expr, options kernels.Options) (*Found, error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	masks, err := expr.Evaluate(ctx, table, []expr.Expr{predicate}, options)
	if err != nil {
		return nil, err
	}
	f := &Found{table: table, mask: masks[0]}
	if !isBool(f.mask.Type()) {
		err = fmt.Errorf("the predicate is %v, it has to be bool: %w", f.mask.Type(), expr.ErrType)
	} else {
		f.rows, err = f.count(ctx, options)
	}
	if err != nil {
		return nil, errors.Join(err, f.Release())
	}
	return f, nil
}

// count counts the rows.
func (f *Found) count(ctx context.Context, options kernels.Options) (rows int64, err error) {
	call, _, err := begin(ctx, options, f.table, f.mask)
	if err != nil || f.table.Capacity() == 0 {
		return 0, err
	}
	if call.OnHost() {
		all, err := f.table.NumRows(ctx)
		if err != nil {
			return 0, err
		}
		numbers, err := keptNumbers(f.mask, int(all))
		return int64(len(numbers)), err
	}
	capacity, counted, err := f.table.Extent(ctx)
	if err != nil {
		return 0, err
	}
	c := &compaction{call: &call, plan: &plan{}, rows: counted, capacity: int(capacity)}
	s := maskSelector{f.mask}
	block, err := c.allocateScratch(s.prepare(c))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	if c.kept, err = op.NewSlice[int64](&call, 1); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.kept.Release()) }()
	if _, err = s.many(c); err != nil {
		return 0, err
	}
	var kept [1]int64
	err = c.kept.Download(ctx, call.Stream, kept[:])
	return kept[0], err
}

// Rows is the number of the rows.
func (f *Found) Rows() int64 { return f.rows }

// Copy returns a table of the rows, with some of the columns, or with all if columns is nil. The caller releases it.
func (f *Found) Copy(ctx context.Context, columns []string, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("copy rows", options, func(only kernels.Options) (*buffer.Buffer, error) {
		return f.copy(ctx, columns, only)
	})
}

func (f *Found) copy(ctx context.Context, names []string, options kernels.Options) (filtered *buffer.Buffer, err error) {
	table := f.table
	if names != nil {
		if table, err = table.Select(names...); err != nil {
			return nil, err
		}
		defer func() { filtered, err = release.OnError(filtered, err, table.Release()) }()
	}
	if f.rows == 0 {
		return noRows(table)
	}
	call, columns, err := begin(ctx, options, table, f.mask)
	if err != nil {
		return nil, err
	}
	if call.OnHost() {
		return filterOnHost(ctx, &call, table, columns, f.mask)
	}
	return compactCounted(ctx, &call, table, columns, maskSelector{f.mask}, f.rows)
}

// Release releases the mask.
func (f *Found) Release() error { return f.mask.Release() }
