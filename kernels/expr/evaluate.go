package expr

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
)

// Evaluate computes the expressions for every row of the table. It returns a column for
// each of them on the device of the table; the computed columns share one block. An
// expression that is a plain column, of any type, returns that column itself. The columns
// have the row count and the capacity of the table.
//
// # Memory
//
// An estimate is exact on a GPU. On the host it is an upper bound: it includes a bitmap
// for each result that can be null, also if no row of it will be, and more padding. Strings
// that are made cannot be estimated.
//
// # Waiting
//
// On a GPU Evaluate enqueues one kernel and returns, also if only the device knows the
// number of rows. Strings that are made take further kernels, and Evaluate waits for the
// number of their bytes. On the host it waits for the work on the table until ctx is done.
//
// # Ownership
//
// The caller releases the columns.
//
// # Errors
//
// The error is that of [Bind] for expressions that do not fit the schema, and wraps
// device.ErrInvalidValue for more than one of the options.
func Evaluate(ctx context.Context, table *buffer.Buffer, expressions []Expr, options ...kernels.Options) ([]*column.Column, error) {
	_, columns, err := evaluate(ctx, table, expressions, options)
	return columns, err
}

// Project makes a table of the values of the expressions: see [Evaluate]. [Expr.Name] is
// the name of a column. The table has the rows of the given table, also if only the device
// knows their number, and the metadata of its schema. The caller releases the table.
func Project(ctx context.Context, table *buffer.Buffer, expressions []Expr, options ...kernels.Options) (*buffer.Buffer, error) {
	b, columns, err := evaluate(ctx, table, expressions, options)
	if err != nil {
		return nil, err
	}
	projected, err := op.Table(b.projected, columns, table.Rows())
	if err = errors.Join(err, release.All(columns)); err != nil {
		return nil, errors.Join(fmt.Errorf("expr: project: %w", err), projected.Release())
	}
	return projected, nil
}

func evaluate(ctx context.Context, table *buffer.Buffer, expressions []Expr, options []kernels.Options) (*bound, []*column.Column, error) {
	chosen, err := op.Only(options)
	if err == nil {
		err = table.Check()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("expr: evaluate: %w", err)
	}
	b, err := bind(table.Schema(), expressions)
	if err != nil {
		return nil, nil, err
	}
	columns, err := b.evaluate(ctx, table, chosen)
	if err != nil {
		return nil, nil, fmt.Errorf("expr: evaluate: %w", err)
	}
	return b, columns, nil
}

// evaluate computes the outputs that are not plain columns, and retains the columns.
func (b *bound) evaluate(ctx context.Context, table *buffer.Buffer, options kernels.Options) ([]*column.Column, error) {
	if len(b.steps) == 0 {
		return b.outputs(ctx, table, options)
	}
	longer, err := b.withSteps(ctx, table, options)
	if err != nil {
		return nil, err
	}
	columns, err := b.outputs(ctx, longer, options)
	if failure := longer.Release(); failure != nil {
		return nil, errors.Join(err, failure, release.All(columns))
	}
	return columns, err
}

// outputs computes the outputs from the columns of the table and of the steps.
func (b *bound) outputs(ctx context.Context, table *buffer.Buffer, options kernels.Options) ([]*column.Column, error) {
	var computed []*column.Column
	if b.computed != nil {
		var err error
		if computed, err = run(ctx, table, b.computed, options); err != nil {
			return nil, err
		}
	}
	columns := make([]*column.Column, len(b.passed))
	for i, place := range b.passed {
		if place < 0 {
			columns[i], computed = computed[0], computed[1:]
			continue
		}
		c := table.Column(place)
		if err := c.Retain(); err != nil {
			return nil, errors.Join(err, release.All(columns), release.All(computed))
		}
		columns[i] = c
	}
	return columns, nil
}

func run(ctx context.Context, table *buffer.Buffer, program *exprtree.Program, options kernels.Options) ([]*column.Column, error) {
	inputs := make([]*column.Column, len(program.Inputs))
	for i, place := range program.Inputs {
		inputs[i] = table.Column(place)
	}
	behind := inputs
	if len(inputs) == 0 { // literals alone: on the table's device
		for i := range table.NumColumns() {
			behind = append(behind, table.Column(i))
		}
	}
	if options.Manager == nil {
		options.Manager = table.Manager()
	}
	call, err := op.Begin(ctx, options, behind...)
	if err != nil {
		return nil, err
	}
	if err := call.OrderBehind(table.DeviceRows().Block()); err != nil {
		return nil, err
	}
	var columns []*column.Column
	if call.OnHost() {
		columns, err = onHost(ctx, &call, table, program, inputs)
	} else {
		columns, err = onGPU(&call, table, program, inputs)
	}
	if err != nil || table.RowCount() == nil {
		return columns, err
	}
	counted, err := withRows(columns, table.RowCount())
	return counted, errors.Join(err, release.All(columns))
}

// withRows returns the columns with a row count.
func withRows(columns []*column.Column, rows *column.RowCount) ([]*column.Column, error) {
	counted := make([]*column.Column, len(columns))
	for i, c := range columns {
		var err error
		if counted[i], err = c.WithRows(rows); err != nil {
			return nil, errors.Join(err, release.All(counted))
		}
	}
	return counted, nil
}

// schemaOf returns the schema of the fields with the metadata of another.
func schemaOf(fields []arrow.Field, like *arrow.Schema) *arrow.Schema {
	metadata := like.Metadata()
	return arrow.NewSchemaWithEndian(fields, &metadata, like.Endianness())
}
