package gpuframe

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/rows"
)

// Rows runs a query and yields its rows as values of T: structs whose exported fields are
// columns by name or tag, as for [From], or for a query of one column also single values.
// Columns without a field are ignored. The values do not refer to the query's memory.
//
//	for sale, err := range gpuframe.Rows[Sale](ctx, query) { … }
//
// The iteration ends after an error. The error wraps that of [Query.Collect], or reports which
// field does not fit its column.
func Rows[T any](ctx context.Context, q Query, options ...RunOption) iter.Seq2[T, error] {
	return rows.All[T](func(yield func(arrow.Record, error) bool) {
		for f, err := range q.Batches(ctx, options...) {
			if err != nil {
				yield(nil, err)
				return
			}
			record, err := f.take(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			more := yield(record, nil)
			record.Release()
			if !more {
				return
			}
		}
	})
}

// take returns the frame as a record, and releases it.
func (f *Frame) take(ctx context.Context) (arrow.Record, error) {
	record, err := f.Record(ctx)
	if failure := f.Release(); failure != nil && err == nil {
		record.Release()
		return nil, failure
	}
	return record, err
}

// Column returns the values of a column of a frame.
//
//	means, err := gpuframe.Column[float64](ctx, frame, "mean")
func Column[T any](ctx context.Context, f *Frame, name string) ([]T, error) {
	c, err := f.table.ColumnByName(name)
	if err != nil {
		return nil, fmt.Errorf("gpuframe: column: %w", err)
	}
	array, err := c.Array(ctx)
	if err != nil {
		return nil, fmt.Errorf("gpuframe: column %q: %w", name, err)
	}
	defer array.Release()
	values, err := rows.Append[T](make([]T, 0, array.Len()), array)
	if err != nil {
		return nil, fmt.Errorf("gpuframe: column %q: %w", name, err)
	}
	return values, nil
}
