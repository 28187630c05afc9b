package exec

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// errEnd is the error at the end of a reader.
var errEnd = io.EOF

// smallCapacity is the number of rows up to which the host does not wait for the number of rows of
// a table: the wait takes as long as working on rows that are not there.
const smallCapacity = 1 << 16

// collect takes tables over, reads the reader that they came from to its end and returns all rows as
// one table.
func (s *stage) collect(ctx context.Context, reader buffer.Reader, before ...*buffer.Buffer) (*buffer.Buffer, error) {
	h, err := s.hold(ctx, reader, before...)
	if err != nil {
		return nil, err
	}
	all, err := h.whole(ctx)
	return release.OnError(all, err, h.Release())
}

// roomShare is the part of the budget, as a divisor, above which a table with room for many more
// rows than it has is copied to memory of their size. The copy of a smaller one takes longer than
// its memory is worth.
const roomShare = 32

// compact waits for the number of rows of a table with many rows or much memory, so that the
// operators that read it have no memory and no threads for rows that are not there. If the table
// takes much memory for few rows, it is copied, unless memory is short. compact takes over the table.
func (s *stage) compact(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	large := table.Bytes() > s.settings.Manager.Budget()/roomShare
	if _, known := table.HostRows(); known || table.Capacity() <= smallCapacity && !large {
		return table, nil
	}
	room := table.Capacity()
	table, err := exact(ctx, table)
	if err != nil || table.Capacity() > room/2 || !large {
		return table, err
	}
	compacted, err := selection.Compact(ctx, table, s.options())
	if isShort(err) {
		return table, nil
	}
	return release.OnError(compacted, err, table.Release())
}

// counted is exact for a table with room for many rows, and returns another one as it is.
func counted(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	if _, known := table.HostRows(); known || table.Capacity() <= smallCapacity {
		return table, nil
	}
	return exact(ctx, table)
}

// exact waits for the number of rows of a table, and returns the part with these rows. It takes over
// the table.
func exact(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	rows, err := table.NumRows(ctx)
	if err != nil || rows == table.Capacity() {
		return release.OnError(table, err)
	}
	part, err := table.Slice(0, rows)
	return release.OnError(part, err, table.Release())
}

// Empty returns a table without rows.
func Empty(ctx context.Context, m *memory.Manager, schema *arrow.Schema, tag string) (*buffer.Buffer, error) {
	record, err := hostarray.EmptyRecord(schema)
	if err != nil {
		return nil, err
	}
	defer record.Release()
	return buffer.FromRecordWith(ctx, m, record, buffer.LoadOptions{Stream: m.Stream(), Tag: tag, Unchecked: true})
}

// Collect reads the whole result as one table with a known row count.
func Collect(ctx context.Context, reader buffer.Reader, settings Settings) (*buffer.Buffer, error) {
	s := stage{settings: settings}
	h, err := s.hold(ctx, reader)
	if err != nil {
		return nil, err
	}
	count := len(h.tables)
	var table *buffer.Buffer
	if h.first != nil {
		table, h.first = h.first, nil
	} else {
		table, err = h.whole(ctx)
		if errors.Is(err, memory.ErrBudget) {
			err = fmt.Errorf("the result, of %d tables, does not fit the budget as one: read it in parts with Batches, or raise the budget: %w", count, err)
		}
	}
	if table, err = release.OnError(table, err, h.Release()); err != nil {
		return nil, err
	}
	if _, known := table.HostRows(); known && count > 1 {
		// A table made of several others has no room for more rows.
		return table, nil
	}
	if table, err = Exact(ctx, table, settings); err != nil {
		return nil, fmt.Errorf("copy the result without the rows that were left out: %w", err)
	}
	return table, nil
}
