package vector

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Batches are the right rows of a join in several tables of known length, of which one has to be in device memory at a
// time.
type Batches struct {
	// Schema is that of the tables.
	Schema *arrow.Schema
	// Rows is the number of the rows of all tables.
	Rows int64
	// Each calls a function with each table, always in the same order. The function does not keep it.
	Each func(ctx context.Context, f func(*buffer.Buffer) error) error
}

// Join is [Rows.Join] with the rows of all batches: the k nearest rows of each batch are merged into those of the batches
// before. Each table is read twice. The result is that of one table with all rows, bit for bit.
func (b *Batches) Join(ctx context.Context, left *buffer.Buffer, leftKey, rightKey expr.Expr, o JoinOptions) (*buffer.Buffer, error) {
	joined, err := b.join(ctx, left, leftKey, rightKey, o)
	if err != nil {
		return nil, fmt.Errorf("vector: join: %w", err)
	}
	return joined, nil
}

func (b *Batches) join(ctx context.Context, left *buffer.Buffer, leftKey, rightKey expr.Expr, o JoinOptions) (joined *buffer.Buffer, err error) {
	var parts release.Stack
	defer func() { joined, err = release.OnError(joined, errors.Join(err, parts.Release())) }()
	if left, err = counted(ctx, left); err != nil {
		return nil, err
	}
	parts.Add(left)
	o.K = int(max(min(int64(o.K), b.Rows), 1))
	if rows := left.Capacity(); rows > math.MaxInt32/int64(o.K) {
		return nil, &join.TooManyRowsError{Rows: rows * int64(o.K), Limit: math.MaxInt32}
	}
	n, err := b.search(ctx, left, leftKey, rightKey, o)
	if err != nil {
		return nil, err
	}
	parts.Add(n)
	all, err := o.pairs(ctx, n, o.scratch(left))
	if err != nil {
		return nil, err
	}
	parts.Add(all)
	pairs, err := counted(ctx, all)
	if err != nil {
		return nil, err
	}
	parts.Add(pairs)
	right, err := b.rightColumns(ctx, pairs, o)
	if err != nil {
		return nil, err
	}
	parts.Add(right)
	return o.gather(ctx, left, pairs, func(c JoinColumn) (*column.Column, arrow.Field, error) {
		values, err := right.ColumnByName(rightName(c))
		if err != nil {
			return nil, arrow.Field{}, err
		}
		field := b.Schema.Field(b.Schema.FieldIndices(c.From)[0])
		return values, field, values.Retain()
	})
}

// search finds the nearest rows of all batches.
func (b *Batches) search(ctx context.Context, left *buffer.Buffer, leftKey, rightKey expr.Expr, o JoinOptions) (n *Neighbours, err error) {
	options := o.scratch(left)
	dim, err := o.dim(left.Schema(), b.Schema, leftKey, rightKey)
	if err != nil {
		return nil, err
	}
	strict := dim == 0
	var queries *Dense
	first := int64(0)
	err = b.Each(ctx, func(table *buffer.Buffer) error {
		rows, err := vectorsIn(ctx, table, rightKey, &dim, strict, options)
		if err != nil {
			return err
		}
		search := NearestOptions{Options: options, Metric: o.Metric, First: first}
		first += table.Capacity()
		if queries == nil && rows != nil {
			queries, err = vectorsIn(ctx, left, leftKey, &dim, strict, options)
		}
		switch {
		case err != nil || queries == nil || rows == nil:
		case n == nil:
			n, err = Nearest(ctx, queries, rows, o.K, search)
		default:
			err = n.Add(ctx, queries, rows, search)
		}
		return errors.Join(err, rows.Release())
	})
	if err == nil && n == nil {
		n, err = unmatched(ctx, int(left.Capacity()), o.K, options)
	}
	return release.OnError(n, err, queries.Release())
}

// placeColumn is the column of numbers in the order of pairs.
const placeColumn = "place"

// rightName is the name of a right column beside placeColumn, which a column of the caller may be called, too.
func rightName(c JoinColumn) string { return "right " + c.Name }

// rightColumns returns the right columns of pairs under their names of rightName. Each batch yields those of its pairs,
// which are then brought into the order of the pairs.
func (b *Batches) rightColumns(ctx context.Context, pairs *buffer.Buffer, o JoinOptions) (*buffer.Buffer, error) {
	options := o.scratch(pairs)
	var parts []*buffer.Buffer
	first := int64(0)
	err := b.Each(ctx, func(table *buffer.Buffer) error {
		part, err := o.pairsOf(ctx, pairs, table, first, len(parts) == 0, options)
		first += table.Capacity()
		if err == nil {
			parts = append(parts, part)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, release.All(parts))
	}
	all, err := selection.Concat(ctx, parts, options)
	if all, err = release.OnError(all, err, release.All(parts)); err != nil {
		return nil, err
	}
	ordered, err := order.Sort(ctx, all, []order.Key{{Column: placeColumn}}, o.result(pairs))
	return release.OnError(ordered, err, all.Release())
}

// pairsOf returns the places of the pairs with rows of one batch, and its columns. Pairs without a row are those of the
// first batch, which may be empty.
func (o *JoinOptions) pairsOf(ctx context.Context, pairs, table *buffer.Buffer, first int64, isFirst bool, options kernels.Options) (*buffer.Buffer, error) {
	row := expr.Col(rightRow)
	condition := row.Ge(expr.Lit(first)).And(row.Lt(expr.Lit(first + table.Capacity())))
	if isFirst {
		condition = condition.Or(row.IsNull())
	}
	filtered, err := selection.Filter(ctx, pairs, condition, options)
	if err != nil {
		return nil, err
	}
	rank := expr.Col(rankColumn)
	place := expr.Col(leftRow).Mul(expr.Lit(int64(o.K + 1))).Add(expr.If(rank.IsValid(), rank, expr.Lit(int64(0))))
	chosen, err := expr.Project(ctx, filtered, []expr.Expr{place.As(placeColumn), row.Sub(expr.Lit(first)).As(rightRow)}, options)
	if chosen, err = release.OnError(chosen, err, filtered.Release()); err != nil {
		return nil, err
	}
	part, err := o.taken(ctx, chosen, table, options)
	return release.OnError(part, err, chosen.Release())
}

// taken returns the places of pairs with the columns of their rows of a table.
func (o *JoinOptions) taken(ctx context.Context, chosen, table *buffer.Buffer, options kernels.Options) (*buffer.Buffer, error) {
	fields, columns := []arrow.Field{{Name: placeColumn, Type: arrow.PrimitiveTypes.Int64}}, []*column.Column{chosen.Column(0)}
	if err := columns[0].Retain(); err != nil {
		return nil, err
	}
	for _, c := range o.Columns {
		if !c.Right {
			continue
		}
		values, field, err := takeFrom(ctx, table, c, chosen.Column(1), options)
		if err != nil {
			return nil, errors.Join(err, release.All(columns))
		}
		field.Name, field.Nullable = rightName(c), true
		fields, columns = append(fields, field), append(columns, values)
	}
	rows := chosen.Rows()
	rows.Manager = options.Manager
	part, err := buffer.New(arrow.NewSchema(fields, nil), columns, rows)
	return release.OnError(part, err, release.All(columns))
}
