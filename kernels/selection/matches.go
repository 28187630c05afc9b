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

// Matches are the rows of a table that meet a condition, before they are copied. They borrow the table.
type Matches struct {
	table *buffer.Buffer
	mask  *column.Column
	rows  int64
}

// FindMatches finds the rows that [Filter] would keep, and counts them. [Matches.Copy] copies them to memory for as many
// rows: a filter takes memory for all rows of the table, because it does not wait for their number. Strings and elements
// of lists have memory as a filter gives them.
//
// # Waiting
//
// FindMatches waits for the number of rows.
//
// # Ownership
//
// The caller releases the result, and the table after it.
func FindMatches(ctx context.Context, table *buffer.Buffer, predicate expr.Expr, options ...kernels.Options) (*Matches, error) {
	return operation("find rows", options, func(only kernels.Options) (*Matches, error) {
		return findMatches(ctx, table, predicate, only)
	})
}

func findMatches(ctx context.Context, table *buffer.Buffer, predicate expr.Expr, options kernels.Options) (*Matches, error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	masks, err := expr.Evaluate(ctx, table, []expr.Expr{predicate}, options)
	if err != nil {
		return nil, err
	}
	m := &Matches{table: table, mask: masks[0]}
	if !isBool(m.mask.Type()) {
		err = fmt.Errorf("the predicate is %v, it has to be bool: %w", m.mask.Type(), expr.ErrType)
	} else {
		m.rows, err = m.count(ctx, options)
	}
	if err != nil {
		return nil, errors.Join(err, m.Release())
	}
	return m, nil
}

// count counts the rows.
func (m *Matches) count(ctx context.Context, options kernels.Options) (rows int64, err error) {
	call, _, err := begin(ctx, options, m.table, m.mask)
	if err != nil || m.table.Capacity() == 0 {
		return 0, err
	}
	if call.OnHost() {
		all, err := m.table.NumRows(ctx)
		if err != nil {
			return 0, err
		}
		numbers, err := keptNumbers(m.mask, int(all))
		return int64(len(numbers)), err
	}
	capacity, counted, err := m.table.Extent(ctx)
	if err != nil {
		return 0, err
	}
	c := &compaction{call: &call, plan: &plan{}, rows: counted, capacity: int(capacity)}
	s := maskSelector{m.mask}
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
func (m *Matches) Rows() int64 { return m.rows }

// Copy returns a table of the rows, with some of the columns, or with all if columns is nil. The caller releases it.
func (m *Matches) Copy(ctx context.Context, columns []string, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("copy rows", options, func(only kernels.Options) (*buffer.Buffer, error) {
		return m.copy(ctx, columns, only)
	})
}

func (m *Matches) copy(ctx context.Context, names []string, options kernels.Options) (filtered *buffer.Buffer, err error) {
	table := m.table
	if names != nil {
		if table, err = table.Select(names...); err != nil {
			return nil, err
		}
		defer func() { filtered, err = release.OnError(filtered, err, table.Release()) }()
	}
	if m.rows == 0 {
		if _, err := table.NumRows(ctx); err != nil { // a slice needs it
			return nil, err
		}
		return noRows(table)
	}
	call, columns, err := begin(ctx, options, table, m.mask)
	if err != nil {
		return nil, err
	}
	if call.OnHost() {
		return filterOnHost(ctx, &call, table, columns, m.mask)
	}
	return compactCounted(ctx, &call, table, columns, maskSelector{m.mask}, m.rows)
}

// Release releases the mask.
func (m *Matches) Release() error { return m.mask.Release() }

// fewShare is the part of the rows, as a divisor, that matches have at most if they are copied because memory is short.
const fewShare = 2

// copyFew counts the matches and copies them, or returns the error of a filter that lacked memory.
func copyFew(ctx context.Context, m *Matches, options kernels.Options, short error) (*buffer.Buffer, error) {
	rows, err := m.count(ctx, options)
	if err != nil || rows > m.table.Capacity()/fewShare {
		return nil, short
	}
	m.rows = rows
	return m.copy(ctx, nil, options)
}

// filterFew is copyFew for the columns of kept, by a predicate of the columns of table.
func filterFew(ctx context.Context, table, kept *buffer.Buffer, predicate expr.Expr, options kernels.Options, short error) (filtered *buffer.Buffer, err error) {
	masks, err := expr.Evaluate(ctx, table, []expr.Expr{predicate}, options)
	if err != nil {
		return nil, short
	}
	defer func() { filtered, err = release.OnError(filtered, err, release.All(masks)) }()
	return copyFew(ctx, &Matches{table: kept, mask: masks[0]}, options, short)
}
