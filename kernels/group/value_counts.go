package group

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/keys/hashtable"
)

// CountsName is the name of the column of counts in the result of [ValueCounts].
const CountsName = "counts"

// ValueCounts returns the distinct values of a column as [Unique] does, and the number
// of rows of each, as a table of two columns: "values" and, of type int64, "counts".
func ValueCounts(ctx context.Context, c *column.Column, options ...Options) (*buffer.Buffer, error) {
	table, err := groupBy(ctx, c, hashtable.WithCounts, options, valueCounts)
	if err != nil {
		return nil, fmt.Errorf("group: value counts: %w", err)
	}
	return table, nil
}

func valueCounts(groups *hashtable.Groups, ctx context.Context) (counted *buffer.Buffer, err error) {
	values, err := groups.Values(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, values.Release()) }()
	counts, err := groups.Counts(ctx, int(values.Capacity()))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, counts.Release()) }()
	return values.AppendColumn(arrow.Field{Name: CountsName, Type: arrow.PrimitiveTypes.Int64}, counts)
}
