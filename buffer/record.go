package buffer

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// Record copies the table to the host. Tables that are not sliced are copied in one
// pipelined transfer. It waits for the work on the table's memory. The caller
// releases the record.
func (b *Buffer) Record(ctx context.Context) (arrow.Record, error) {
	return b.RecordWith(ctx, column.DownloadOptions{})
}

// RecordWith is Record with options: the stream that copies, and the allocator of
// the host's memory.
func (b *Buffer) RecordWith(ctx context.Context, options column.DownloadOptions) (arrow.Record, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	rows, err := b.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	arrays, err := column.ToArrays(ctx, b.columns, options)
	if err != nil {
		return nil, fmt.Errorf("buffer: record: %w", err)
	}
	defer func() { release.Arrow(arrays) }()
	return array.NewRecord(b.schema, arrays, rows), nil
}
