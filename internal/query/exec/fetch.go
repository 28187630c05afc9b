package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// fetching adds columns of a source to the rows of its input, by their numbers there. It waits for these.
type fetching struct {
	mapping
	plan *plan.Fetch
	rows source.RowReader
}

func openFetch(ctx context.Context, _ *opener, s *stage, n plan.Node) (buffer.Reader, error) {
	f := &fetching{plan: n.(*plan.Fetch)}
	f.mapping = mapping{stage: s, apply: f.fetch}
	late := f.plan.Late()
	request := source.Request{Columns: late.Columns(), Where: late.Where(), Numbered: true, MostRows: s.settings.MostRows, Tag: s.settings.Tag, Readahead: s.readahead}
	if s.settings.Profile != nil {
		request.Counters = &s.settings.Profile.Of(n).Source
	}
	var err error
	f.rows, err = source.OpenRows(ctx, s.settings.source(late), s.settings.Manager, request)
	return f, err
}

func (f *fetching) fetch(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	if err := table.Retain(); err != nil {
		return nil, err
	}
	table, err := exact(ctx, table)
	if err != nil {
		return nil, err
	}
	late, err := f.late(ctx, table)
	if err != nil {
		return nil, errors.Join(err, table.Release())
	}
	var columns []*column.Column
	for i, field := range table.Schema().Fields() {
		if field.Name != f.plan.Row() {
			columns = append(columns, table.Column(i))
		}
	}
	for i := range late.NumColumns() {
		columns = append(columns, late.Column(i))
	}
	result, err := op.Table(f.plan.Schema(), columns, table.Rows())
	return release.OnError(result, err, late.Release(), table.Release())
}

// late returns the columns of the source for the rows of a table.
func (f *fetching) late(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	values, err := table.Column(table.Schema().FieldIndices(f.plan.Row())[0]).Array(ctx)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	numbers := values.(*array.Int64).Int64Values()
	if len(numbers) == 0 {
		return Empty(ctx, f.settings.Manager, f.plan.Late().Schema(), f.settings.Tag)
	}
	ascending := slices.Clone(numbers)
	slices.Sort(ascending)
	places := make([]int64, len(numbers))
	for i, number := range numbers {
		at, _ := slices.BinarySearch(ascending, number)
		places[i] = int64(at)
	}
	rows, err := f.inOrder(ctx, ascending)
	if err != nil {
		return nil, err
	}
	indices, err := column.FromSlice(ctx, f.settings.Manager, places, column.SliceOptions{Stream: f.settings.stream(), Tag: f.settings.Tag})
	if err != nil {
		return nil, errors.Join(err, rows.Release())
	}
	ordered, err := selection.Take(ctx, rows, indices, f.options())
	return release.OnError(ordered, err, indices.Release(), rows.Release())
}

// inOrder returns the rows with some numbers, in ascending order.
func (f *fetching) inOrder(ctx context.Context, numbers []int64) (*buffer.Buffer, error) {
	reader, err := f.rows.At(ctx, numbers)
	if err != nil {
		return nil, err
	}
	all, err := f.collect(ctx, reader)
	if all, err = release.OnError(all, err, reader.Close()); err != nil {
		return nil, err
	}
	rows, err := all.NumRows(ctx)
	if err == nil && rows != int64(len(numbers)) {
		err = fmt.Errorf("%v has %d of %d rows that were read before: %w", f.plan.Late().Source(), rows, len(numbers), source.ErrContents)
	}
	if err != nil {
		return nil, errors.Join(err, all.Release())
	}
	return all, nil
}

// Close implements buffer.Reader.
func (f *fetching) Close() error { return errors.Join(f.mapping.Close(), f.rows.Close()) }
