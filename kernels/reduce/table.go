package reduce

import (
	"context"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// Table computes aggregates of a table in one pass over its rows, on a GPU with one
// kernel. The result is a table of one row on the table's device, with a column per
// aggregate. The caller releases it. At most one of options may be given.
//
// The first call for aggregates of a new shape compiles a kernel, which takes some
// milliseconds. The names of columns and the values of literals are not part of the
// shape.
//
// # Memory
//
// The result takes 512 bytes for each aggregate. A GPU takes scratch memory for more
// than 4,096 rows: a few words for each part of them, at most 4,096 parts. An estimate
// is exact.
//
// # Errors
//
// The error wraps device.ErrNotSupported if an aggregate does not support the type of
// its expression. If an expression does not fit the table, it is the error of
// expr.Bind.
//
// # Waiting
//
// On a GPU Table returns immediately; the kernel reads a row count that only the device
// knows. On the host Table computes the result before it returns, unless the context
// ends first.
func Table(ctx context.Context, table *buffer.Buffer, aggregates []Aggregate, options ...kernels.Options) (*buffer.Buffer, error) {
	chosen, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("reduce: %w", err)
	}
	result, err := reduce(ctx, table, aggregates, chosen)
	if err != nil {
		return nil, fmt.Errorf("reduce: %w", err)
	}
	return result, nil
}

// Scalars is [Table] with the results copied to the host, in the order of the
// aggregates. It waits until they are complete or the context ends.
func Scalars(ctx context.Context, table *buffer.Buffer, aggregates []Aggregate, options ...kernels.Options) ([]scalar.Scalar, error) {
	record, err := fetched(ctx, table, aggregates, options)
	if err != nil {
		return nil, err
	}
	defer record.Release()
	scalars := make([]scalar.Scalar, record.NumCols())
	for i := range scalars {
		if scalars[i], err = scalar.GetScalar(record.Column(i), 0); err != nil {
			return nil, fmt.Errorf("reduce: fetch the results: aggregate %d: %w", i, err)
		}
	}
	return scalars, nil
}

// Integer is the result of an aggregate of integers.
type Integer struct {
	// Value has the bits of the integer, with its sign extended. It is 0 if the result is null.
	Value   uint64
	IsValid bool
}

// Integers is [Scalars] for aggregates whose results are integers. Programs that use it do not link the
// scalars of arrow-go, 0.45 MB. The error wraps expr.ErrType for another result.
func Integers(ctx context.Context, table *buffer.Buffer, aggregates []Aggregate, options ...kernels.Options) ([]Integer, error) {
	record, err := fetched(ctx, table, aggregates, options)
	if err != nil {
		return nil, err
	}
	defer record.Release()
	integers := make([]Integer, record.NumCols())
	for i, values := range record.Columns() {
		if !values.IsValid(0) {
			continue
		}
		bits, ok := integerBits(values)
		if !ok {
			return nil, fmt.Errorf("reduce: aggregate %d is %v, expected integers: %w", i, values.DataType(), expr.ErrType)
		}
		integers[i] = Integer{bits, true}
	}
	return integers, nil
}

// integerBits returns the first value of integers.
func integerBits(values arrow.Array) (bits uint64, ok bool) {
	switch values := values.(type) {
	case *array.Int8:
		return uint64(values.Value(0)), true
	case *array.Int16:
		return uint64(values.Value(0)), true
	case *array.Int32:
		return uint64(values.Value(0)), true
	case *array.Int64:
		return uint64(values.Value(0)), true
	case *array.Uint8:
		return uint64(values.Value(0)), true
	case *array.Uint16:
		return uint64(values.Value(0)), true
	case *array.Uint32:
		return uint64(values.Value(0)), true
	case *array.Uint64:
		return values.Value(0), true
	}
	return 0, false
}

// fetched computes aggregates and returns them on the host. The caller releases the record.
func fetched(ctx context.Context, table *buffer.Buffer, aggregates []Aggregate, options []kernels.Options) (arrow.Record, error) {
	result, err := Table(ctx, table, aggregates, options...)
	if err != nil {
		return nil, err
	}
	record, err := result.Record(ctx)
	if failure := result.Release(); err == nil {
		err = failure
	}
	if err != nil {
		return nil, fmt.Errorf("reduce: fetch the results: %w", err)
	}
	return record, nil
}

// Column computes an aggregate of one column: Column(ctx, prices, reduce.Sum). The
// result is a column of one element on the same device. The caller releases it. See
// [Table].
func Column(ctx context.Context, c *column.Column, aggregate func(expr.Expr) Aggregate, options ...kernels.Options) (*column.Column, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("reduce: %w", err)
	}
	// The table uses the column's row count.
	table, err := buffer.New(schemaOf(c.Type()), []*column.Column{c}, buffer.Rows{Count: int64(c.Len())})
	if err != nil {
		return nil, fmt.Errorf("reduce: %w", err)
	}
	result, err := Table(ctx, table, []Aggregate{aggregate(onlyColumn)}, options...)
	if failure := table.Release(); err == nil && failure != nil {
		err = fmt.Errorf("reduce: %w", failure)
	}
	if err != nil {
		return nil, err
	}
	defer result.Release()
	only := result.Column(0)
	if err := only.Retain(); err != nil {
		return nil, fmt.Errorf("reduce: %w", err)
	}
	return only, nil
}

// run is one computation.
type run struct {
	call    op.Call
	program *exprtree.Program
	wanted  []wanted
	inputs  []*column.Column
	table   *buffer.Buffer
	// rows is the number of rows or, if count has memory, their maximum.
	rows  int64
	count memory.Slice[int64]
}

func reduce(ctx context.Context, table *buffer.Buffer, aggregates []Aggregate, options kernels.Options) (*buffer.Buffer, error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	if len(aggregates) == 0 {
		return nil, fmt.Errorf("no aggregates: %w", device.ErrInvalidValue)
	}
	r := run{table: table}
	expressions := r.list(aggregates)
	var err error
	var steps bool
	if r.program, steps, err = bind(table.Schema(), expressions); err != nil {
		return nil, err
	}
	if steps {
		projected, err := expr.Project(ctx, table, numbered(expressions), options)
		if err != nil {
			return nil, err
		}
		defer projected.Release()
		r.table, table = projected, projected
		for i := range expressions {
			expressions[i] = expr.Col(strconv.Itoa(i))
		}
		if r.program, _, err = bind(table.Schema(), expressions); err != nil {
			return nil, err
		}
	}
	for _, input := range r.program.Inputs {
		r.inputs = append(r.inputs, table.Column(input))
	}
	if err := r.begin(ctx, options); err != nil {
		return nil, err
	}
	if r.call.Estimating() {
		return nil, r.estimate()
	}
	if r.call.OnHost() {
		return r.onHost(ctx, aggregates)
	}
	return r.onGPU(aggregates)
}

// numbered names expressions by their numbers.
func numbered(expressions []expr.Expr) []expr.Expr {
	named := make([]expr.Expr, len(expressions))
	for i, e := range expressions {
		named[i] = e.As(strconv.Itoa(i))
	}
	return named
}

// list returns the distinct expressions of the aggregates, and records their indices.
func (r *run) list(aggregates []Aggregate) []expr.Expr {
	expressions := make([]expr.Expr, 0, 2*len(aggregates))
	numberOf := func(e expr.Expr) int {
		for i, other := range expressions {
			if other == e {
				return i
			}
		}
		expressions = append(expressions, e)
		return len(expressions) - 1
	}
	r.wanted = make([]wanted, len(aggregates))
	for i, a := range aggregates {
		w := wanted{function: a.function, value: -1, where: -1, freedom: a.freedom}
		if a.function != none && a.function != countAll {
			w.value = numberOf(a.value)
		}
		if a.where != (expr.Expr{}) {
			w.where = numberOf(a.where)
		}
		r.wanted[i] = w
	}
	return expressions
}

// emptyProgram is the program of aggregates without expressions.
var emptyProgram = exprtree.NewProgram(nil, nil, nil)

// bind returns the program of expressions, and whether it needs columns that have to be made
// first: strings, or the results of operators.
func bind(schema *arrow.Schema, expressions []expr.Expr) (program *exprtree.Program, steps bool, err error) {
	if len(expressions) == 0 {
		return emptyProgram, false, nil
	}
	prepared, err := expr.Bind(schema, expressions...)
	if err != nil {
		return nil, false, err
	}
	bound := (*exprtree.Bound)(prepared)
	return bound.Program(), bound.HasSteps() || codegen.MakesStrings(bound.Program()), nil
}

// begin determines the stream, the manager and the number of rows, and makes the stream
// wait for pending work on the inputs.
func (r *run) begin(ctx context.Context, options kernels.Options) (err error) {
	inputs := r.inputs
	if len(inputs) == 0 && r.table.NumColumns() > 0 {
		inputs = []*column.Column{r.table.Column(0)} // for its stream and manager
	}
	if options.Manager == nil {
		options.Manager = r.table.Manager()
	}
	if r.call, err = op.Begin(ctx, options, inputs...); err != nil {
		return err
	}
	if r.call.OnHost() && !r.call.Estimating() {
		r.rows, err = r.table.NumRows(ctx)
		return err
	}
	if r.rows, r.count, err = r.table.Extent(ctx); err != nil {
		return err
	}
	return r.call.OrderBehind(r.count.Block())
}
