package group

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// rank returns the rank of each row by a column. Of texts that repeat the distinct ones are sorted: a sort takes a pass of
// all rows for each eight bytes that texts share, and finding equal ones a single pass. Null has some rank, or none.
func (r *queryRows) rank(name string) (*column.Column, error) {
	c, err := r.rows.ColumnByName(name)
	if err != nil {
		return nil, err
	}
	if arrow.IsBaseBinary(c.Type().ID()) {
		ranks, err := r.rankDistinct(c)
		if ranks != nil || err != nil && !op.LacksMemory(err) {
			return ranks, err
		}
	}
	return order.Rank(r.call.Context(), r.rows, []order.Key{{Column: name}}, order.RankOptions{Options: r.scratch(), Method: order.Dense})
}

// rankDistinct ranks the distinct texts of a column, or returns nil if few of them repeat.
func (r *queryRows) rankDistinct(c *column.Column) (*column.Column, error) {
	ctx := r.call.Context()
	encoded, err := dictionary.EncodeRepeating(ctx, c, tuningOf(ctx).RepeatingRows, r.scratch())
	if err != nil || encoded == nil {
		return nil, err
	}
	ranks, err := r.ranksOf(encoded)
	return release.OnError(ranks, err, encoded.Release())
}

// ranksOf returns the ranks of the values of a dictionary, by row.
func (r *queryRows) ranksOf(encoded *column.Column) (*column.Column, error) {
	ctx, values := r.call.Context(), encoded.Dictionary()
	schema := arrow.NewSchema([]arrow.Field{{Name: "value", Type: values.Type(), Nullable: true}}, nil)
	table, err := buffer.New(schema, []*column.Column{values}, buffer.Rows{Count: int64(values.Len())})
	if err != nil {
		return nil, err
	}
	ranks, err := order.Rank(ctx, table, []order.Key{{Column: "value"}}, order.RankOptions{Options: r.scratch(), Method: order.Dense})
	if err = errors.Join(err, table.Release()); err != nil {
		return release.OnError(ranks, err)
	}
	indices, err := encoded.Indices()
	if err != nil {
		return nil, errors.Join(err, ranks.Release())
	}
	taken, err := selection.TakeColumnWith(ctx, ranks, indices, selection.TakeOptions{Options: r.scratch(), Bounds: selection.Null})
	return release.OnError(taken, err, indices.Release(), ranks.Release())
}
