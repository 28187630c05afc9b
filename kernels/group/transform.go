package group

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Transform returns the table with a further column for each aggregate, which has the
// result of the row's group in each row. Rows that belong to no group, because they do not
// meet the condition of the query or have a null key that is dropped, have nulls.
//
// Transform waits like [Query.Aggregate], and once more for each level of nesting of
// results that are strings or lists. The order of groups is not used. The caller releases
// the result.
func (q Query) Transform(ctx context.Context, aggregates []Aggregate, options ...ByOptions) (*buffer.Buffer, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, fmt.Errorf("group: transform: %w", err)
	}
	table, err := q.transform(ctx, aggregates, only)
	if err != nil {
		return nil, fmt.Errorf("group: transform: %w", err)
	}
	return table, nil
}

func (q Query) transform(ctx context.Context, aggregates []Aggregate, options ByOptions) (*buffer.Buffer, error) {
	options.Order = Unspecified
	q.numbered = true
	r, err := q.begin(ctx, aggregates, options)
	if err != nil {
		return nil, err
	}
	return closing(r, func() (*buffer.Buffer, error) { return r.transform(q.table) })
}

// transform adds the results of each row's group to a table.
func (r *aggregation) transform(table *buffer.Buffer) (*buffer.Buffer, error) {
	result, err := r.result()
	if err != nil {
		return nil, err
	}
	r.owned.Add(result)
	base, err := r.base(table)
	if err != nil {
		return nil, err
	}
	r.owned.Add(base)
	numbers, bounds, err := r.numbersOfRows(base)
	if err != nil {
		return nil, err
	}
	r.owned.Add(numbers)
	results, fields, columns := release.Stack{}, base.Schema().Fields(), []*column.Column{}
	for i := range base.NumColumns() {
		columns = append(columns, base.Column(i))
	}
	for i := len(r.names); i < result.NumColumns(); i++ {
		c, err := r.take(result.Column(i), numbers, r.call.Tag, bounds)
		if err != nil {
			return nil, errors.Join(err, results.Release())
		}
		results.Add(c)
		f := result.Schema().Field(i)
		f.Nullable = f.Nullable || bounds == selection.Null
		fields, columns = append(fields, f), append(columns, c)
	}
	schema := base.Schema().Metadata()
	whole, err := op.Table(arrow.NewSchema(fields, &schema), columns, base.Rows())
	return release.OnError(whole, err, results.Release())
}

// base returns the table with exactly its rows, if the host knows their number.
func (r *aggregation) base(table *buffer.Buffer) (*buffer.Buffer, error) {
	if n, known := table.HostRows(); known && table.RowCount() != nil {
		return table.Slice(0, n)
	}
	return table, table.Retain()
}

// numbersOfRows returns the number of the group of each row of a table.
func (r *aggregation) numbersOfRows(base *buffer.Buffer) (numbers *column.Column, bounds selection.Bounds, err error) {
	kept, err := r.rows.ColumnByName(rowName)
	if err != nil { // all rows have a group
		numbers, err = selection.RowNumbers(r.groups.numbers, r.rows.RowCount())
		return numbers, selection.Trust, err
	}
	rows, err := kept.ValuesRegion()
	if err != nil {
		return nil, 0, err
	}
	n := int(base.Capacity())
	numbers, err = r.newScratch(op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: n, RowCount: base.RowCount()}, func(out op.Buffers) error {
		if err := out.Values.Fill(r.call.Stream, 0xff); err != nil {
			return err
		}
		if !r.call.OnHost() {
			return scatterOnDevice(&r.call, out, rows, r.groups)
		}
		if err := r.call.WaitIdle(r.call.Context()); err != nil {
			return err
		}
		to, err := out.Host()
		from, fromErr := rows.Host()
		groups, groupsErr := r.groups.numbers.Host()
		if err := errors.Join(err, fromErr, groupsErr); err != nil {
			return err
		}
		all := op.Elements[uint32](to.Values)
		for i, row := range op.Elements[int64](from)[:r.groups.rows] {
			all[row] = groups[i]
		}
		return nil
	})
	return numbers, selection.Null, err
}
