package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// RowReader reads rows of a source by their numbers, from 0, among those that a reader of the same request returns.
type RowReader interface {
	// At returns a reader of the rows with some numbers, which are in ascending order. The caller closes it.
	At(ctx context.Context, numbers []int64) (buffer.Reader, error)
	// Close releases what the reader holds.
	Close() error
}

// rowSource is a source of which rows can be read by their numbers.
type rowSource interface {
	Source
	openRows(ctx context.Context, m *memory.Manager, request Request) (RowReader, error)
}

// ReadsRows reports whether [OpenRows] opens a source: tables of the device, and Parquet files without deleted rows.
func ReadsRows(s Source) bool {
	numbered, ok := s.(interface{ numbered() bool })
	return ok && numbered.numbered()
}

// OpenRows opens a source to read rows by their numbers. The request is that of the reader which numbers the rows, but for
// the columns. The caller closes the reader.
func OpenRows(ctx context.Context, s Source, m *memory.Manager, request Request) (RowReader, error) {
	rows, ok := s.(rowSource)
	if !ok {
		return nil, wrap(s, fmt.Errorf("internal error: rows of %T have no numbers: %w", s, ErrArgument))
	}
	return rows.openRows(ctx, m, request)
}

// parquetRows reads the pages with rows.
type parquetRows struct {
	files   *parquetFiles
	m       *memory.Manager
	request Request
}

func (s *parquetFiles) numbered() bool { return s.table == nil }

func (s *parquetFiles) openRows(_ context.Context, m *memory.Manager, request Request) (RowReader, error) {
	return &parquetRows{s, m, request}, nil
}

func (r *parquetRows) At(ctx context.Context, numbers []int64) (buffer.Reader, error) {
	return r.files.openGroups(ctx, r.m, r.request, func(groups []rowGroup) []rowGroup { return withRows(groups, numbers) })
}

func (r *parquetRows) Close() error { return nil }

// withRows returns the row groups that have some rows, with these rows alone. Numbers count the rows of the groups.
func withRows(groups []rowGroup, numbers []int64) (chosen []rowGroup) {
	var before int64
	for _, g := range groups {
		spans := g.spans
		if spans == nil {
			spans = []span{{0, g.rows}}
		}
		g.spans = nil
		for _, s := range spans {
			for len(numbers) > 0 && numbers[0] < before+s.rows {
				row := s.first + numbers[0] - before
				if last := len(g.spans) - 1; last >= 0 && g.spans[last].end() == row {
					g.spans[last].rows++
				} else {
					g.spans = append(g.spans, span{row, 1})
				}
				numbers = numbers[1:]
			}
			before += s.rows
		}
		if g.spans != nil {
			g.rows = rowsOf(g.spans)
			chosen = append(chosen, g)
		}
	}
	return chosen
}

// tableRows takes rows of tables, of which it holds references.
type tableRows struct {
	reader *tableReader
	m      *memory.Manager
}

func (s *tables) numbered() bool { return true }

func (s *tables) openRows(ctx context.Context, m *memory.Manager, request Request) (RowReader, error) {
	reader, err := s.Open(ctx, m, request)
	if err != nil {
		return nil, err
	}
	return &tableRows{reader.(*tableReader), m}, nil
}

func (r *tableRows) At(ctx context.Context, numbers []int64) (_ buffer.Reader, err error) {
	taken := &tableReader{source: r.reader.source, schema: r.reader.schema, counters: r.reader.counters}
	defer func() {
		if err != nil {
			err = errors.Join(err, taken.Close())
		}
	}()
	var before int64
	for _, table := range r.reader.left {
		rows, err := table.NumRows(ctx)
		if err != nil {
			return nil, err
		}
		var own []int64
		for len(numbers) > 0 && numbers[0] < before+rows {
			own, numbers = append(own, numbers[0]-before), numbers[1:]
		}
		before += rows
		if len(own) == 0 {
			continue
		}
		part, err := r.taken(ctx, table, own)
		if err != nil {
			return nil, err
		}
		taken.left = append(taken.left, part)
	}
	return taken, nil
}

// taken returns rows of a table, with the columns that are requested.
func (r *tableRows) taken(ctx context.Context, table *buffer.Buffer, rows []int64) (*buffer.Buffer, error) {
	selected, err := table.Select(r.reader.request.Columns...)
	if err != nil {
		return nil, err
	}
	indices, err := column.FromSlice(ctx, r.m, rows, column.SliceOptions{Stream: r.m.Stream(), Tag: r.reader.request.Tag})
	if err != nil {
		return nil, errors.Join(err, selected.Release())
	}
	part, err := selection.Take(ctx, selected, indices)
	return release.OnError(part, err, indices.Release(), selected.Release())
}

func (r *tableRows) Close() error { return r.reader.Close() }
