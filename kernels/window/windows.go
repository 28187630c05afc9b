package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// Windows divides the rows of a table into partitions, and orders those of each.
type Windows struct {
	// PartitionBy are keys: rows with equal keys are one partition. Their directions do not
	// matter. Without keys all rows are one partition.
	PartitionBy []order.Key
	// OrderBy are the keys of the order within a partition. Rows with equal keys are peers,
	// and keep the order of the table. Without keys all rows are peers.
	OrderBy []order.Key
}

// keys returns the keys of the order of all rows.
func (w Windows) keys() []order.Key {
	return append(w.PartitionBy[:len(w.PartitionBy):len(w.PartitionBy)], w.OrderBy...)
}

// Over returns a column for each function, with a value for each row of the table, in the
// order of the table. A table that is in the order of its windows is not sorted. The
// columns have the table's row count. The caller releases them.
//
// # Waiting
//
// Over waits to learn whether the table is in order, and when order.Indices does. Frames of
// ranges take one more wait for each function, and so do CountDistinct and Mode. First, Last, Nth, Lag and Lead of strings or
// lists wait for their size.
//
// # Errors
//
// A function that does not fit is a [*FunctionError]. A key that cannot be used is an
// [*order.KeyError]. The error wraps order.ErrTooLong for more than order.MaxRows rows,
// and device.ErrNotSupported in an estimate: the memory depends on the data.
func Over(ctx context.Context, table *buffer.Buffer, windows Windows, functions []Function, options ...kernels.Options) ([]*column.Column, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("window: over: %w", err)
	}
	columns, err := over(ctx, table, windows, functions, only)
	if err != nil {
		return nil, fmt.Errorf("window: over: %w", err)
	}
	return columns, nil
}

var errNoEstimate = fmt.Errorf("the memory depends on the data, so it is not known before the operator runs: %w", device.ErrNotSupported)

func over(ctx context.Context, table *buffer.Buffer, windows Windows, functions []Function, options kernels.Options) (columns []*column.Column, err error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	if options.Estimate != nil {
		return nil, errNoEstimate
	}
	for i, f := range functions {
		if _, err := f.Type(table.Schema(), windows); err != nil {
			return nil, &FunctionError{i, f, err}
		}
	}
	if options.Manager == nil {
		options.Manager = table.Manager()
	}
	a, err := arrange(ctx, table, windows, options)
	if err != nil {
		return nil, err
	}
	defer func() {
		if failure := a.release(); failure != nil || err != nil {
			columns, err = nil, errors.Join(err, failure, release.All(columns))
		}
	}()
	for i, f := range functions {
		computed, err := a.compute(f)
		if err != nil {
			return columns, &FunctionError{i, f, err}
		}
		columns = append(columns, computed)
	}
	return columns, nil
}

// FunctionError is a function that does not fit the table or the windows, or that failed.
type FunctionError struct {
	// Number is the number of the function, counted from 0.
	Number   int
	Function Function
	Err      error
}

// Error names the function.
func (e *FunctionError) Error() string {
	return fmt.Sprintf("function %d, %v: %v", e.Number, e.Function, e.Err)
}

// Unwrap returns Err.
func (e *FunctionError) Unwrap() error { return e.Err }

// compute computes one function.
func (a *arrangement) compute(f Function) (*column.Column, error) {
	t, err := f.Type(a.table.Schema(), a.windows)
	if err != nil {
		return nil, err
	}
	if f.kind < ranks {
		return a.rank(f, t)
	}
	value, err := a.value(f)
	if err != nil {
		return nil, err
	}
	computed, err := a.computeOf(f, value, t)
	return release.OnError(computed, err, value.Release())
}

func (a *arrangement) computeOf(f Function, value *column.Column, t arrow.DataType) (*column.Column, error) {
	if f.kind == exponentialMeanBy {
		return a.decay(f, value)
	}
	frame, err := a.framed(f)
	if err != nil {
		return nil, err
	}
	var computed *column.Column
	switch {
	case f.kind < picks:
		computed, err = a.pick(f, value, frame)
	case f.ofFrequencies():
		computed, err = a.frequencies(f, value, frame)
	case f.isExtremeOfRanks(value.Type()):
		computed, err = a.extremeOfRanks(f, value, frame)
	case f.isOfDecimals(value.Type()):
		computed, err = a.foldDecimals(f, value, t, frame)
	default:
		computed, err = a.fold(f, value, t, frame)
	}
	return release.OnError(computed, err, frame.release())
}
