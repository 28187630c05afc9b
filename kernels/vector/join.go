package vector

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/kernels/random"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// JoinOptions configure a join of rows with their nearest rows.
type JoinOptions struct {
	kernels.Options
	// K is the most rows that a row is joined with.
	K      int
	Metric Metric
	// Dim is the number of the elements of a vector. Lists of another length match nothing. Zero is the size of lists of a
	// fixed size, or else the length that all lists must have.
	Dim int
	// MatchedOnly leaves out left rows without a match. Otherwise these have nulls in all other columns.
	MatchedOnly bool
	// Columns are those of the result, of the left table and then of the right one.
	Columns []JoinColumn
	// Distance and Rank are the names of further columns, unless they are empty: the distance as float32, which is the Euclidean
	// one for L2, and the number of the row among those that its left row is joined with, from 1, as int64.
	Distance, Rank string
}

// JoinColumn is a column of a result.
type JoinColumn struct {
	Right bool
	// From is the name in its table.
	From, Name string
}

// JoinSchema returns the schema of the result of a join of tables of two schemas.
//
// # Errors
//
// The error wraps [expr.ErrType] if a key is no vector, or if the vectors differ in length, and [device.ErrInvalidValue] if an
// option has no meaning.
func JoinSchema(left, right *arrow.Schema, leftKey, rightKey expr.Expr, o JoinOptions) (*arrow.Schema, error) {
	if _, err := o.dim(left, right, leftKey, rightKey); err != nil {
		return nil, fmt.Errorf("vector: join: %w", err)
	}
	fields := make([]arrow.Field, 0, len(o.Columns)+2)
	for _, c := range o.Columns {
		from, nullable := left, false
		if c.Right {
			from, nullable = right, !o.MatchedOnly
		}
		at := from.FieldIndices(c.From)
		if len(at) == 0 {
			return nil, fmt.Errorf("vector: join: there is no column %q: %w", c.From, buffer.ErrSchema)
		}
		field := from.Field(at[0])
		field.Name, field.Nullable = c.Name, field.Nullable || nullable
		fields = append(fields, field)
	}
	if o.Distance != "" {
		fields = append(fields, arrow.Field{Name: o.Distance, Type: arrow.PrimitiveTypes.Float32, Nullable: !o.MatchedOnly})
	}
	if o.Rank != "" {
		fields = append(fields, arrow.Field{Name: o.Rank, Type: arrow.PrimitiveTypes.Int64, Nullable: !o.MatchedOnly})
	}
	return arrow.NewSchema(fields, nil), nil
}

// dim returns the number of elements of a vector, or 0 if the types do not have it.
func (o *JoinOptions) dim(left, right *arrow.Schema, leftKey, rightKey expr.Expr) (int, error) {
	switch {
	case o.K < 1:
		return 0, fmt.Errorf("k is %d, expected 1 or more: %w", o.K, device.ErrInvalidValue)
	case o.Metric > Dot:
		return 0, fmt.Errorf("%v is no metric: %w", o.Metric, device.ErrInvalidValue)
	case o.Dim < 0:
		return 0, fmt.Errorf("%d dimensions, expected 0 or more: %w", o.Dim, device.ErrInvalidValue)
	}
	dim, from := o.Dim, "the options have"
	for _, side := range []struct {
		name   string
		schema *arrow.Schema
		key    expr.Expr
	}{{"left side", left, leftKey}, {"right side", right, rightKey}} {
		t, _, err := side.key.Type(side.schema)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", side.name, err)
		}
		if _, ok := numberOf(t); !ok {
			return 0, fmt.Errorf("%s: %v is no list of integers or floats of 32 or 64 bits: %w", side.name, t, expr.ErrType)
		}
		fixed, ok := layout.Storage(t).(*arrow.FixedSizeListType)
		switch {
		case !ok:
		case dim != 0 && dim != int(fixed.Len()):
			return 0, fmt.Errorf("%s: vectors of %d elements, but %s %d: %w", side.name, fixed.Len(), from, dim, expr.ErrType)
		default:
			dim, from = int(fixed.Len()), "the left side has"
		}
	}
	return dim, nil
}

// Rows are the right rows of joins, which share their vectors. They may be used from any goroutine.
type Rows struct {
	table   *buffer.Buffer
	vectors *Dense
	key     expr.Expr
	// dim is the number of the elements, 0 if there are no rows that have it. Other lengths are errors if strict is set.
	dim    int
	strict bool
}

// NewRows prepares the table that left tables are joined with. schema is that of the left tables. The call waits for the
// number of rows. The caller releases the rows.
func NewRows(ctx context.Context, table *buffer.Buffer, schema *arrow.Schema, leftKey, rightKey expr.Expr, o JoinOptions) (*Rows, error) {
	r := &Rows{key: leftKey}
	err := func() (err error) {
		if r.dim, err = o.dim(schema, table.Schema(), leftKey, rightKey); err != nil {
			return err
		}
		if r.table, err = counted(ctx, table); err != nil {
			return err
		}
		r.strict = r.dim == 0
		r.vectors, err = vectorsIn(ctx, r.table, rightKey, &r.dim, r.strict, o.scratch(table))
		return err
	}()
	if err != nil {
		err = fmt.Errorf("vector: right side of a join: %w", err)
	}
	return release.OnError(r, err)
}

// Release releases the rows.
func (r *Rows) Release() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.table.Release(), r.vectors.Release())
}

// scratch are options for intermediate results.
func (o *JoinOptions) scratch(table *buffer.Buffer) kernels.Options {
	scratch := kernels.Options{Stream: o.Stream, Manager: o.Manager, Tag: op.ScratchTag}
	if scratch.Manager == nil {
		scratch.Manager = table.Manager()
	}
	return scratch
}

// counted returns a table with the number of its rows on the host. The caller releases it.
func counted(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	rows, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	return table.Slice(0, rows)
}

// vectorsIn returns the vectors of a table. If dim is 0 and strict is set, it finds the length that all of them have; without
// vectors dim remains 0.
func vectorsIn(ctx context.Context, table *buffer.Buffer, key expr.Expr, dim *int, strict bool, options kernels.Options) (*Dense, error) {
	columns, err := expr.Evaluate(ctx, table, []expr.Expr{key}, options)
	if err != nil {
		return nil, err
	}
	d, err := func() (*Dense, error) {
		if strict {
			if err := checkLengths(ctx, columns[0], dim, options); err != nil || *dim == 0 {
				return nil, err
			}
		}
		return DenseOf(ctx, columns[0], *dim, options)
	}()
	return release.OnError(d, err, release.All(columns))
}

// Join joins each row of a left table with its nearest rows, in the order of the left rows and from the nearest one on. The call
// waits for the number of rows. The caller releases the result.
//
// # Errors
//
// A result of more than 2³¹−1 rows is a [*join.TooManyRowsError].
func (r *Rows) Join(ctx context.Context, left *buffer.Buffer, o JoinOptions) (*buffer.Buffer, error) {
	joined, err := r.join(ctx, left, o)
	if err != nil {
		return nil, fmt.Errorf("vector: join: %w", err)
	}
	return joined, nil
}

func (r *Rows) join(ctx context.Context, left *buffer.Buffer, o JoinOptions) (joined *buffer.Buffer, err error) {
	var parts release.Stack
	defer func() { joined, err = release.OnError(joined, errors.Join(err, parts.Release())) }()
	if left, err = counted(ctx, left); err != nil {
		return nil, err
	}
	parts.Add(left)
	options := o.scratch(left)
	o.K = int(max(min(int64(o.K), r.table.Capacity()), 1))
	if rows := left.Capacity(); rows > math.MaxInt32/int64(o.K) {
		return nil, &join.TooManyRowsError{Rows: rows * int64(o.K), Limit: math.MaxInt32}
	}
	dim := r.dim
	queries, err := vectorsIn(ctx, left, r.key, &dim, r.strict, options)
	if err != nil {
		return nil, err
	}
	parts.Add(queries)
	var n *Neighbours
	if queries != nil && r.vectors != nil {
		n, err = Nearest(ctx, queries, r.vectors, o.K, NearestOptions{Options: options, Metric: o.Metric})
	} else {
		n, err = unmatched(ctx, int(left.Capacity()), o.K, options)
	}
	if err != nil {
		return nil, err
	}
	parts.Add(n)
	pairs, err := o.pairs(ctx, n, options)
	if err != nil {
		return nil, err
	}
	parts.Add(pairs)
	return o.gather(ctx, left, pairs, func(c JoinColumn) (*column.Column, arrow.Field, error) {
		return takeFrom(ctx, r.table, c, pairs.Column(1), o.result(left))
	})
}

// The columns of the table of pairs.
const (
	leftRow, rightRow, distanceColumn, rankColumn = "left", "right", "distance", "rank"
	indexColumn, numberColumn                     = "index", "number"
)

// pairs returns a table of the pairs of rows, with their distance and rank.
func (o *JoinOptions) pairs(ctx context.Context, n *Neighbours, options kernels.Options) (*buffer.Buffer, error) {
	count := n.Queries * n.K
	numbers, err := random.Numbers(ctx, count, random.Options{Options: options})
	if err != nil {
		return nil, err
	}
	fields := []arrow.Field{
		{Name: indexColumn, Type: arrow.PrimitiveTypes.Int64}, {Name: distanceColumn, Type: arrow.PrimitiveTypes.Float32}, {Name: numberColumn, Type: arrow.PrimitiveTypes.Int64},
	}
	whole, err := buffer.New(arrow.NewSchema(fields, nil), []*column.Column{n.Indices, n.Distances, numbers}, buffer.Rows{Count: int64(count), Manager: options.Manager})
	if err = errors.Join(err, numbers.Release()); err != nil {
		return nil, errors.Join(err, whole.Release())
	}
	index, distance, number := expr.Col(indexColumn), expr.Col(distanceColumn), expr.Col(numberColumn)
	k, exists := expr.Lit(int64(n.K)), index.Ge(expr.Lit(int64(0)))
	if o.Metric == L2 {
		distance = distance.Sqrt()
	}
	rank := number.Mod(k).Add(expr.Lit(int64(1)))
	kept := exists
	if !o.MatchedOnly {
		kept = exists.Or(rank.Eq(expr.Lit(int64(1))))
	}
	valid := func(e expr.Expr, t arrow.DataType, name string) expr.Expr {
		if !o.MatchedOnly {
			e = expr.If(exists, e, expr.Null(t))
		}
		return e.As(name)
	}
	filtered, err := selection.Filter(ctx, whole, kept, options)
	if err = errors.Join(err, whole.Release()); err != nil {
		return nil, errors.Join(err, filtered.Release())
	}
	pairs, err := expr.Project(ctx, filtered, []expr.Expr{
		number.Div(k).As(leftRow), valid(index, arrow.PrimitiveTypes.Int64, rightRow), valid(distance, arrow.PrimitiveTypes.Float32, distanceColumn),
		valid(rank, arrow.PrimitiveTypes.Int64, rankColumn),
	}, options)
	return release.OnError(pairs, err, filtered.Release())
}

// takeFrom returns a column of a table by the numbers of rows, null for a null number, and its field.
func takeFrom(ctx context.Context, table *buffer.Buffer, c JoinColumn, rows *column.Column, options kernels.Options) (*column.Column, arrow.Field, error) {
	values, err := table.ColumnByName(c.From)
	if err != nil {
		return nil, arrow.Field{}, err
	}
	taken, err := selection.TakeColumnWith(ctx, values, rows, selection.TakeOptions{Options: options, Bounds: selection.Trust})
	return taken, table.Schema().Field(table.Schema().FieldIndices(c.From)[0]), err
}

// gather takes the left rows of the pairs. right returns their right columns with the fields.
func (o *JoinOptions) gather(ctx context.Context, left, pairs *buffer.Buffer, right func(c JoinColumn) (*column.Column, arrow.Field, error)) (*buffer.Buffer, error) {
	schema, columns := make([]arrow.Field, 0, len(o.Columns)+2), make([]*column.Column, 0, len(o.Columns)+2)
	err := func() error {
		options := o.result(left)
		for _, c := range o.Columns {
			var taken *column.Column
			var field arrow.Field
			var err error
			if c.Right {
				taken, field, err = right(c)
			} else {
				taken, field, err = takeFrom(ctx, left, c, pairs.Column(0), options)
			}
			if err != nil {
				return err
			}
			field.Name, field.Type, field.Nullable = c.Name, taken.Type(), field.Nullable || c.Right && !o.MatchedOnly
			schema, columns = append(schema, field), append(columns, taken)
		}
		for i, name := range []string{o.Distance, o.Rank} {
			if name == "" {
				continue
			}
			c := pairs.Column(2 + i)
			if err := c.Retain(); err != nil {
				return err
			}
			schema, columns = append(schema, arrow.Field{Name: name, Type: c.Type(), Nullable: !o.MatchedOnly}), append(columns, c)
		}
		return nil
	}()
	if err != nil {
		return nil, errors.Join(err, release.All(columns))
	}
	rows := pairs.Rows()
	rows.Manager = left.Manager()
	table, err := buffer.New(arrow.NewSchema(schema, nil), columns, rows)
	return release.OnError(table, err, release.All(columns))
}

// result are options for columns of the result.
func (o *JoinOptions) result(left *buffer.Buffer) kernels.Options {
	options := o.Options
	if options.Manager == nil {
		options.Manager = left.Manager()
	}
	return options
}

// unmatched returns neighbours of queries that have none.
func unmatched(ctx context.Context, queries, k int, options kernels.Options) (*Neighbours, error) {
	indices, distances := make([]int64, queries*k), make([]float32, queries*k)
	for i := range indices {
		indices[i], distances[i] = -1, float32(math.NaN())
	}
	n := &Neighbours{Queries: queries, K: k}
	var err error
	if n.Indices, err = column.FromSlice(ctx, options.Manager, indices, column.SliceOptions{Tag: options.Tag, Stream: options.Stream}); err == nil {
		n.Distances, err = column.FromSlice(ctx, options.Manager, distances, column.SliceOptions{Tag: options.Tag, Stream: options.Stream})
	}
	return release.OnError(n, err)
}
