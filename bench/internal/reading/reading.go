// Package reading measures how long sources take to read.
package reading

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
	"github.com/gpuframe/gpuframe/memory"
)

// Reading is one reading of all rows.
type Reading struct {
	// Took is the time to the last table, Processors that of all processors, First the time to the first
	// table.
	Took, Processors, First time.Duration
	// Bytes are those of the tables, File those of the file.
	Rows, Bytes, File int64
	Tables            int
}

// Best returns the fastest of some readings after a first one, which is not counted. Each opens the source
// again. A source without columns reads all.
func Best(ctx context.Context, m *memory.Manager, rounds int, columns []string, open func() (source.Source, error)) (best Reading, err error) {
	for i := range rounds + 1 {
		r, err := read(ctx, m, columns, open)
		if err != nil {
			return best, err
		}
		if i == 1 || i > 1 && r.Took < best.Took {
			best = r
		}
	}
	return best, nil
}

func read(ctx context.Context, m *memory.Manager, columns []string, open func() (source.Source, error)) (r Reading, err error) {
	var counters source.Counters
	began, before := time.Now(), processor.Time()
	s, err := open()
	if err != nil {
		return r, err
	}
	reader, err := s.Open(ctx, m, source.Request{Columns: columns, Counters: &counters})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for {
		t, err := reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return r, err
		}
		if r.Tables == 0 {
			r.First = time.Since(began)
		}
		r.Tables++
		if err := t.Release(); err != nil {
			return r, err
		}
	}
	err = m.Stream().Synchronize(ctx)
	r.Took, r.Processors = time.Since(began), processor.Time()-before
	r.Rows, r.Bytes, r.File = counters.Rows.Load(), counters.Bytes.Load(), counters.FileBytes.Load()
	return r, err
}

// ArrayBytes is the length of an array's buffers without the bitmap.
func ArrayBytes(values arrow.Array) (bytes int64) {
	for _, buffer := range values.Data().Buffers()[1:] {
		bytes += int64(buffer.Len())
	}
	return bytes
}
