package selection

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Filter returns the rows of a table for which a predicate, an expression of type
// bool, is true. Rows for which it is false or null are left out; the others keep
// their order.
//
// On a GPU the predicate is evaluated by the kernel that keeps the rows, and nothing
// waits: the result's row count stays on the device (buffer.Buffer.DeviceRows) and
// its capacity is that of the input, as much memory as if every row were kept. The
// next operator reads the count there, Buffer.NumRows fetches it, and [Compact] makes
// the result as long as its rows. A count of the input that is on the device is heeded
// likewise. On the host the function returns when the result is there, which is as long
// as its rows.
//
// There is one exception: of strings and lists in a slice that has at most half of the
// rows in memory, the ends are fetched, so that the result is not as long as all of
// them. That is one wait for each level of nesting, and none while the stream is
// captured.
//
// Columns of the result have a validity bitmap where those of the input have one,
// with the number of nulls unknown on a GPU. What is shared with the input says the
// package documentation; what lies under a null may be anything.
//
// The error wraps expr.ErrType where the predicate is not of type bool, and those of
// expr.Bind. The caller releases the result.
func Filter(ctx context.Context, table *buffer.Buffer, predicate expr.Expr, options ...kernels.Options) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("selection: filter by %v: %w", predicate, err)
	}
	made, err := filterBy(ctx, table, predicate, only)
	if err != nil {
		return nil, fmt.Errorf("selection: filter by %v: %w", predicate, err)
	}
	return made, nil
}

// FilterMask is [Filter] by a mask: a column of bool, as long as the table's
// capacity, that is true where a row is kept. Its nulls leave out the row.
func FilterMask(ctx context.Context, table *buffer.Buffer, mask *column.Column, options ...kernels.Options) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("selection: filter by mask: %w", err)
	}
	made, err := filterMask(ctx, table, mask, only)
	if err != nil {
		return nil, fmt.Errorf("selection: filter by mask: %w", err)
	}
	return made, nil
}

// FilterColumn is [FilterMask] for one column. The result is a table, because its
// row count may be on the device; the column in it is called "values".
func FilterColumn(ctx context.Context, values, mask *column.Column, options ...kernels.Options) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("selection: filter column: %w", err)
	}
	made, err := filterColumn(ctx, values, mask, only)
	if err != nil {
		return nil, fmt.Errorf("selection: filter column: %w", err)
	}
	return made, nil
}

func filterColumn(ctx context.Context, values, mask *column.Column, options kernels.Options) (made *buffer.Buffer, err error) {
	if err := values.Check(); err != nil {
		return nil, err
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "values", Type: values.Type(), Nullable: true}}, nil)
	table, err := buffer.New(schema, []*column.Column{values}, buffer.Rows{Count: int64(values.Len())})
	if err != nil {
		return nil, err
	}
	defer func() { made, err = released(made, err, table) }()
	return filterMask(ctx, table, mask, options)
}

// released releases what a result no longer needs, and the result too where that
// fails or something else did.
func released(made *buffer.Buffer, err error, held retainable) (*buffer.Buffer, error) {
	if err = errors.Join(err, held.Release()); err != nil {
		return nil, errors.Join(err, made.Release())
	}
	return made, nil
}

func filterMask(ctx context.Context, table *buffer.Buffer, mask *column.Column, options kernels.Options) (*buffer.Buffer, error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	if err := mask.Check(); err != nil {
		return nil, fmt.Errorf("the mask: %w", err)
	}
	if !isBool(mask.Type()) {
		return nil, fmt.Errorf("the mask is %v, it has to be bool: %w", mask.Type(), column.ErrInvalid)
	}
	if int64(mask.Len()) != table.Capacity() {
		return nil, fmt.Errorf("the mask has %d elements, the table a capacity of %d rows: %w", mask.Len(), table.Capacity(), buffer.ErrRows)
	}
	if err := checkMaskRows(ctx, table, mask); err != nil {
		return nil, err
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
	return compact(ctx, &call, table, columns, maskSelector{mask})
}

func filterBy(ctx context.Context, table *buffer.Buffer, predicate expr.Expr, options kernels.Options) (*buffer.Buffer, error) {
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
		return noRows(table)
	}
	call, columns, err := begin(ctx, options, table)
	if err != nil {
		return nil, err
	}
	if !call.OnHost() {
		if selector := newPredicateSelector(table, program); selector != nil {
			return compact(ctx, &call, table, columns, selector)
		}
	}
	return filterInSteps(ctx, table, predicate, options)
}

// checkMaskRows checks that a mask has the rows of a table. One row count for both, or
// none for the mask, says so; other ones are fetched and compared.
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

// noRows returns a table of no rows like one that has none.
func noRows(table *buffer.Buffer) (*buffer.Buffer, error) {
	if table.Capacity() == 0 {
		return table, table.Retain()
	}
	return table.Slice(0, 0)
}

// filterInSteps evaluates the predicate into a mask first.
func filterInSteps(ctx context.Context, table *buffer.Buffer, predicate expr.Expr, options kernels.Options) (made *buffer.Buffer, err error) {
	masks, err := expr.Evaluate(ctx, table, []expr.Expr{predicate}, options)
	if err != nil {
		return nil, err
	}
	defer func() { made, err = released(made, err, masks[0]) }()
	return filterMask(ctx, table, masks[0], options)
}
