package group

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Nulls selects what becomes of rows with a null key.
type Nulls uint8

const (
	// KeepNulls makes null a key like any value.
	KeepNulls Nulls = iota
	// DropNulls leaves out rows in which any key is null.
	DropNulls
)

// Order is the order of the groups in a result.
type Order uint8

const (
	// Unspecified is any order. It is the same in every run, but a GPU may have another one
	// than the host, and a budget that is too small for all rows at once another one than a larger one.
	Unspecified Order = iota
	// FirstAppearance orders groups by their first rows.
	FirstAppearance
	// ByKey orders groups by their keys, as order.Sort does.
	ByKey
)

// ByOptions configure [Query.Aggregate] and the other methods of Query.
type ByOptions struct {
	kernels.Options
	Nulls Nulls
	Order Order
	// MaxGroups is the most groups that there can be, if it is known. Then the memory is
	// bounded by it, and a GPU does not wait. If there are more groups, fetching the
	// result's row count gives an error that wraps buffer.ErrRows.
	MaxGroups int64
	// FirstRow is the number of the table's first row, if the table is a part of the rows:
	// ArgMin and ArgMax count from it.
	FirstRow int64
	// FixedPointSums lets [Query.Partial] add floats in fixed point, as Aggregate does on a GPU, several times as fast.
	// [Merge] then can fail with an error that wraps [ErrInexact]: make the partial results again
	// without it. That is rare if the parts have similar magnitudes: a group needs a value in one part that
	// is more than twice as large as all of another part, or large values that are rare. Other methods ignore it.
	FixedPointSums bool
}

// ErrInexact is wrapped by the error of [Merge] if partial results with ByOptions.FixedPointSums do not
// have the bits that the result needs.
var ErrInexact = errors.New("group: the fixed-point sums of partial results have different magnitudes")

// Query is the rows of a table and the keys that they are grouped by. It is immutable and
// borrows the table.
type Query struct {
	table *buffer.Buffer
	keys  []Key
	where expr.Expr
	// numbered keeps the number of each row when others are removed.
	numbered bool
	// asStates is set for a partial result.
	asStates bool
	// texts is set if few numbers have replaced strings as keys.
	texts bool
}

// By groups the rows of a table by keys: rows with equal values in all keys form a group.
// It does not compute anything yet.
func By(table *buffer.Buffer, keys ...Key) Query {
	return Query{table: table, keys: slices.Clone(keys)}
}

// Where restricts the query to rows in which a condition is true, not false or null. Several
// conditions must all be true.
func (q Query) Where(condition expr.Expr) Query {
	if !q.where.IsZero() {
		condition = q.where.AndStrict(condition)
	}
	q.where = condition
	return q
}

// Aggregate computes aggregates of each group. The result has a row for each group, the
// columns of the keys, and a column for each aggregate. The value of a key is that of the
// group's first row.
//
// # Waiting
//
// On a GPU with more than 65,536 rows and without MaxGroups, Aggregate waits for:
//
//   - the ranges of integer keys, which replace the hash table by places or partitions. Of many rows and a single key the
//     same pass estimates the number of groups; if only the range is known, the estimate is one more pass and wait.
//     Columns remember both.
//   - the number of groups, to allocate a result of that size. Otherwise it stays on the device.
//   - sums of floats of expressions, to compute those again that do not fit their windows.
//
// Aggregates that sort values (Median, Quantile, Largest, Smallest), and extremes of strings, decimals and nested values,
// wait when order.Sort does. Of many rows they first wait once to learn whether a sort is needed, Median and Quantile only
// without MaxGroups. On the host device Aggregate waits for pending work on the table until ctx is done.
//
// # Memory
//
// Estimates are upper bounds: the data decides how many groups there are and how they are found. A
// bound assumes as many groups as rows, or MaxGroups. Aggregates that sort the values, Collect,
// Join, Mode and CountDistinct, and computed strings, cannot be estimated.
//
// If the memory does not fit the budget of the manager, the aggregation begins again and takes
// chunks of the rows one after another, and keeps the states of the groups only. If these do not
// fit either, it divides the groups by hashes of their keys, unless a key is a struct, a list, a dictionary
// or a computed string. The results are the same, bit for bit, but it takes longer, and waits for
// each chunk. The results of all parts, and their concatenation, have to fit.
//
// # Ownership
//
// The caller releases the result.
//
// # Errors
//
// A key that cannot be used is a [*KeyError], an aggregate an [*AggregateError]. They wrap
// buffer.ErrSchema for unknown names and device.ErrNotSupported for types. The error wraps
// [ErrTooLong] for more than 2³¹−1 rows, and is a [*MemoryError] if the groups do not fit the budget
// in parts either.
func (q Query) Aggregate(ctx context.Context, aggregates []Aggregate, options ...ByOptions) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("group: aggregate: %w", err)
	}
	table, err := q.aggregate(ctx, aggregates, only)
	if err != nil {
		return nil, fmt.Errorf("group: aggregate: %w", err)
	}
	return table, nil
}

func (q Query) aggregate(ctx context.Context, aggregates []Aggregate, options ByOptions) (*buffer.Buffer, error) {
	p, err := q.check(aggregates, &options)
	if err != nil {
		return nil, err
	}
	if divided(ctx, &options, nil) {
		return q.aggregateDivided(ctx, aggregates, options)
	}
	table, err := q.aggregateWhole(ctx, p, aggregates, options)
	if !divided(ctx, &options, err) {
		return table, err
	}
	return q.aggregateDivided(ctx, aggregates, options)
}

// aggregateWhole computes the aggregates of all rows at once.
func (q Query) aggregateWhole(ctx context.Context, p *plan, aggregates []Aggregate, options ByOptions) (*buffer.Buffer, error) {
	if options.Estimate == nil {
		if table, ok, err := q.aggregateFew(ctx, p, &options); ok || err != nil {
			return table, err
		}
	}
	k, err := q.numberTexts(ctx, &options)
	if err != nil {
		return nil, err
	}
	if len(k.numbers) > 0 {
		return k.aggregate(ctx, aggregates, options)
	}
	r, err := q.beginPlanned(ctx, p, aggregates, options)
	if err != nil {
		return nil, err
	}
	return closing(r, r.result)
}

// closing takes a step of an aggregation and closes it.
func closing(r *aggregation, step func() (*buffer.Buffer, error)) (*buffer.Buffer, error) {
	table, err := step()
	return release.OnError(table, err, r.close())
}

// check refuses options that are out of range.
func (o *ByOptions) check() error {
	switch {
	case o.Nulls > DropNulls:
		return fmt.Errorf("Nulls is %d, expected KeepNulls or DropNulls: %w", o.Nulls, device.ErrInvalidValue)
	case o.Order > ByKey:
		return fmt.Errorf("Order is %d, expected Unspecified, FirstAppearance or ByKey: %w", o.Order, device.ErrInvalidValue)
	case o.MaxGroups < 0:
		return fmt.Errorf("MaxGroups is %d, expected zero or more: %w", o.MaxGroups, device.ErrInvalidValue)
	case o.FirstRow < 0:
		return fmt.Errorf("FirstRow is %d, expected zero or more: %w", o.FirstRow, device.ErrInvalidValue)
	}
	return nil
}
