package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// Filter returns the rows of a table for which a predicate, an expression of type bool,
// is true. It drops rows for which the predicate is false or null; the others keep
// their order.
//
// Columns of the result have a validity bitmap if those of the input have one, with an
// unknown null count on a GPU. The package documentation lists the memory that the
// result shares with the input. The value under a null is undefined.
//
// On a GPU the capacity of the result is the capacity of the input, so it takes as much
// memory as if every row were kept. [Compact] makes the result as long as its rows. On
// the host the result is as long as its rows.
//
// # Errors
//
// The error wraps expr.ErrType if the predicate is not of type bool, and the errors of
// expr.Bind.
//
// # Ownership
//
// The caller releases the result.
//
// # Waiting
//
// On a GPU the kernel that keeps the rows evaluates the predicate, and Filter does not
// wait. If the budget has no room for the capacity of the table, it waits for the number of rows and
// copies them if they are at most half: see [FindMatches]. The result's row count stays on the device (buffer.Buffer.DeviceRows): the next
// operator reads it there, and Buffer.NumRows fetches it. A row count of the input may
// also be on the device. On the host the function returns when the result is complete.
//
// For strings and lists in a slice with at most half of the rows in memory, Filter does
// wait: it fetches the ends of the slice, so that the result is not as long as all rows
// in memory. That is one wait per level of nesting, and no wait while the stream is
// captured.
func Filter(ctx context.Context, table *buffer.Buffer, predicate expr.Expr, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation(byPredicate{predicate}, options, func(only kernels.Options) (*buffer.Buffer, error) {
		return filterBy(ctx, table, table, predicate, only)
	})
}

// FilterSelect is [Filter] with some of the table's columns in the result, at least one. The
// predicate may read all columns.
func FilterSelect(ctx context.Context, table *buffer.Buffer, predicate expr.Expr, columns []string, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation(byPredicate{predicate}, options, func(only kernels.Options) (*buffer.Buffer, error) {
		return filterSelect(ctx, table, predicate, columns, only)
	})
}

// FilterMask is [Filter] with a mask: a column of bool, as long as the table's
// capacity, that is true for the rows to keep. Rows with a null mask are dropped.
func FilterMask(ctx context.Context, table *buffer.Buffer, mask *column.Column, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("filter by mask", options, func(only kernels.Options) (*buffer.Buffer, error) {
		return filterMask(ctx, table, mask, only)
	})
}

// FilterMaskCounted is [FilterMask] if the host knows the number of the rows for which the mask is true. The result
// has memory for these only, and its number of rows is known without a wait. With another number its contents are
// undefined.
func FilterMaskCounted(ctx context.Context, table *buffer.Buffer, mask *column.Column, rows int64, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("filter by mask", options, func(only kernels.Options) (*buffer.Buffer, error) {
		if err := checkMask(table, mask); err != nil {
			return nil, err
		}
		if rows < 0 || rows > table.Capacity() {
			return nil, fmt.Errorf("%d rows of a table with a capacity of %d: %w", rows, table.Capacity(), buffer.ErrRows)
		}
		return (&Matches{table: table, mask: mask, rows: rows}).copy(ctx, nil, only)
	})
}

// FilterColumn is [FilterMask] for one column. The result is a table, because its row
// count may be on the device. Its column is called "values".
func FilterColumn(ctx context.Context, values, mask *column.Column, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("filter column", options, func(only kernels.Options) (*buffer.Buffer, error) {
		return filterColumn(ctx, values, mask, only)
	})
}

func filterColumn(ctx context.Context, values, mask *column.Column, options kernels.Options) (filtered *buffer.Buffer, err error) {
	if err := values.Check(); err != nil {
		return nil, err
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "values", Type: values.Type(), Nullable: true}}, nil)
	table, err := buffer.New(schema, []*column.Column{values}, buffer.Rows{Count: int64(values.Len())})
	if err != nil {
		return nil, err
	}
	defer func() { filtered, err = release.OnError(filtered, err, table.Release()) }()
	return filterMask(ctx, table, mask, options)
}

// checkMask checks the type and the length of a mask.
func checkMask(table *buffer.Buffer, mask *column.Column) error {
	if err := table.Check(); err != nil {
		return err
	}
	if err := mask.Check(); err != nil {
		return fmt.Errorf("the mask: %w", err)
	}
	if !isBool(mask.Type()) {
		return fmt.Errorf("the mask is %v, it has to be bool: %w", mask.Type(), column.ErrInvalid)
	}
	if int64(mask.Len()) != table.Capacity() {
		return fmt.Errorf("the mask has %d elements, the table a capacity of %d rows: %w", mask.Len(), table.Capacity(), buffer.ErrRows)
	}
	return nil
}

func filterMask(ctx context.Context, table *buffer.Buffer, mask *column.Column, options kernels.Options) (*buffer.Buffer, error) {
	if err := checkMask(table, mask); err != nil {
		return nil, err
	}
	if options.Estimate == nil { // an estimate does not wait
		if err := checkMaskRows(ctx, table, mask); err != nil {
			return nil, err
		}
	}
	if rows, known := table.HostRows(); known && rows == 0 {
		return noRows(table)
	}
	call, columns, err := begin(ctx, options, table, mask)
	if err != nil {
		return nil, err
	}
	if call.OnHost() {
		return filterOnHost(ctx, &call, table, columns, mask)
	}
	filtered, err := compact(ctx, &call, table, columns, maskSelector{mask})
	if errors.Is(err, memory.ErrBudget) {
		return copyFew(ctx, &Matches{table: table, mask: mask}, options, err)
	}
	return filtered, err
}

func filterSelect(ctx context.Context, table *buffer.Buffer, predicate expr.Expr, columns []string, options kernels.Options) (filtered *buffer.Buffer, err error) {
	if len(columns) == 0 {
		return nil, fmt.Errorf("no columns are selected, expected at least one: %w", device.ErrInvalidValue)
	}
	all := slices.Clone(columns)
	for _, name := range predicate.Columns() {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	read, err := table.Select(all...)
	if err != nil {
		return nil, err
	}
	defer func() { filtered, err = release.OnError(filtered, err, read.Release()) }()
	kept, err := table.Select(columns...)
	if err != nil {
		return nil, err
	}
	defer func() { filtered, err = release.OnError(filtered, err, kept.Release()) }()
	return filterBy(ctx, read, kept, predicate, options)
}

// filterBy filters the columns of kept, which are the first ones of table.
func filterBy(ctx context.Context, table, kept *buffer.Buffer, predicate expr.Expr, options kernels.Options) (*buffer.Buffer, error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	bound, err := expr.Bind(table.Schema(), predicate)
	if err != nil {
		return nil, err
	}
	program := (*exprtree.Bound)(bound).Program()
	if !isBool(program.Outputs[0].Type) {
		return nil, fmt.Errorf("the predicate is %v, it has to be bool: %w", program.Outputs[0].Type, expr.ErrType)
	}
	if rows, known := table.HostRows(); known && rows == 0 {
		return noRows(kept)
	}
	if (*exprtree.Bound)(bound).HasSteps() {
		return filterInSteps(ctx, table, kept, predicate, options)
	}
	call, columns, err := begin(ctx, options, table)
	if err != nil {
		return nil, err
	}
	if !call.OnHost() {
		if selector := newPredicateSelector(table, program); selector != nil {
			filtered, err := compact(ctx, &call, kept, columns[:kept.NumColumns()], selector)
			if errors.Is(err, memory.ErrBudget) {
				return filterFew(ctx, table, kept, predicate, options, err)
			}
			return filtered, err
		}
	}
	return filterInSteps(ctx, table, kept, predicate, options)
}

// checkMaskRows checks that a mask has as many rows as a table. If both share one row
// count, or the mask has no row count, nothing is compared; otherwise both counts are
// fetched.
func checkMaskRows(ctx context.Context, table *buffer.Buffer, mask *column.Column) error {
	if mask.RowCount() == nil || mask.RowCount() == table.RowCount() {
		return nil
	}
	rows, err := table.NumRows(ctx)
	if err != nil {
		return err
	}
	set, err := mask.NumRows(ctx)
	if err == nil && int64(set) != rows {
		err = fmt.Errorf("the mask has %d rows, the table %d: %w", set, rows, buffer.ErrRows)
	}
	return err
}

// noRows returns a table without rows, like the given one, which has none.
func noRows(table *buffer.Buffer) (*buffer.Buffer, error) {
	if table.Capacity() == 0 {
		return table, table.Retain()
	}
	return table.Slice(0, 0)
}

// filterInSteps evaluates the predicate into a mask first.
func filterInSteps(ctx context.Context, table, kept *buffer.Buffer, predicate expr.Expr, options kernels.Options) (filtered *buffer.Buffer, err error) {
	if options.Estimate != nil {
		return nil, estimateInSteps(ctx, table, kept, predicate, options)
	}
	masks, err := expr.Evaluate(ctx, table, []expr.Expr{predicate}, options)
	if err != nil {
		return nil, err
	}
	defer func() { filtered, err = release.OnError(filtered, err, masks[0].Release()) }()
	return filterMask(ctx, kept, masks[0], options)
}

// estimateInSteps adds the memory of the mask to that of a filter by a mask without
// nulls of the same table.
func estimateInSteps(ctx context.Context, table, kept *buffer.Buffer, predicate expr.Expr, options kernels.Options) error {
	mask := uint64(0)
	masks, err := expr.Evaluate(ctx, table, []expr.Expr{predicate}, options)
	switch {
	case errors.Is(err, kernels.ErrEstimated):
		mask = options.Estimate.Peak()
	case err != nil:
		return err
	default: // the mask is a column of the table
		if err := release.All(masks); err != nil {
			return err
		}
	}
	call, columns, err := begin(ctx, options, kept)
	if err != nil {
		return err
	}
	if !call.OnHost() {
		return fmt.Errorf("a filter of %d rows in steps: %w", table.Capacity(), device.ErrNotSupported)
	}
	if err := estimateOnHost(ctx, &call, columns, int(table.Capacity())); !errors.Is(err, kernels.ErrEstimated) {
		return err
	}
	options.Estimate.Scratch += mask
	return kernels.ErrEstimated
}
