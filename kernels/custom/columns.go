package custom

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// ColumnFunc computes a column with a row for each row of a table, on the device of the table. The table has the
// arguments, named by their numbers from 0, and a number of rows that the host knows. It is borrowed: a function
// that keeps it retains it. The caller releases the result: a function that returns an argument retains it. A result in
// memory of another manager is not in the budget of the query.
type ColumnFunc func(ctx context.Context, arguments *buffer.Buffer) (*column.Column, error)

// OnColumns makes a function of columns in device memory. Without types of arguments it takes one or more of any
// types.
func OnColumns(name string, s Signature, f ColumnFunc) *Function {
	var invalid error
	if f == nil {
		invalid = fmt.Errorf("the Go function is nil: %w", device.ErrInvalidValue)
	}
	if len(s.Arguments) == 0 {
		anyTypes := newFunction(name, Signature{Arguments: []arrow.DataType{arrow.Null}, Result: s.Result, Pure: s.Pure}, columnBody{f}, invalid)
		anyTypes.signature.Arguments = nil
		return anyTypes
	}
	return newFunction(name, s, columnBody{f}, invalid)
}

type columnBody struct{ f ColumnFunc }

func (columnBody) kind() string { return "function of columns" }

func (b columnBody) run(ctx context.Context, f *Function, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	rows, err := operands[0].NumRows(ctx)
	if err != nil {
		return nil, err
	}
	table, err := argumentTable(operands, rows, options.Manager)
	if err != nil {
		return nil, err
	}
	result, err := b.call(ctx, f, table, rows)
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, result.Release())
	}
	if err := result.Retain(); err != nil { // it was an argument, which the table owned
		return nil, fmt.Errorf("the result is released: a function that returns an argument retains it first: %w: %w", ErrResult, err)
	}
	if err := result.Release(); err != nil {
		return nil, err
	}
	if operands[0].RowCount() == nil && operands[0].Len() == rows {
		return result, nil
	}
	array, err := result.Array(ctx)
	if err = errors.Join(err, result.Release()); err != nil {
		return nil, err
	}
	defer array.Release()
	return upload(ctx, array, operands[0], options)
}

// argumentTable returns the counted rows of operands.
func argumentTable(operands []*column.Column, rows int, m *memory.Manager) (*buffer.Buffer, error) {
	names := make([]string, len(operands))
	counted := make([]*column.Column, 0, len(operands))
	for i, c := range operands {
		names[i] = strconv.Itoa(i)
		part, err := c.Slice(0, rows)
		if err != nil {
			return nil, errors.Join(err, release.All(counted))
		}
		counted = append(counted, part)
	}
	table, err := op.TableOf(names, counted, buffer.Rows{Count: int64(rows), Manager: m})
	return release.OnError(table, err, release.All(counted))
}

// call calls the function and checks its result.
func (b columnBody) call(ctx context.Context, f *Function, table *buffer.Buffer, rows int) (*column.Column, error) {
	return guarded(func() (*column.Column, error) {
		result, err := b.f(ctx, table)
		if err != nil {
			return nil, err
		}
		if err := f.fitsColumn(ctx, result, rows, table.Manager().Device()); err != nil {
			return nil, errors.Join(err, result.Release())
		}
		return result, nil
	})
}

// fitsColumn refuses a result that differs from the signature, or is on another device.
func (f *Function) fitsColumn(ctx context.Context, result *column.Column, rows int, d *device.Device) error {
	if result == nil {
		return fmt.Errorf("the result is nil: %w", ErrResult)
	}
	if !arrow.TypeEqual(result.Type(), f.signature.Result) {
		return fmt.Errorf("the result is %v, expected %v: %w", result.Type(), f.signature.Result, ErrResult)
	}
	n, err := result.NumRows(ctx)
	switch {
	case err != nil:
		return err
	case n != rows || result.Len() != rows:
		return fmt.Errorf("the result has %d rows, expected %d: %w", n, rows, ErrResult)
	case rows > 0 && !result.Device().Same(d):
		return fmt.Errorf("the result is on %s, expected %s: %w", result.Device(), d, ErrResult)
	}
	return nil
}
