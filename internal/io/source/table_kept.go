package source

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/io/source/prune"
)

// Deleted rows are a column of bools, by which the query filters: the device drops them with the rows that do not meet other
// conditions.

// kept returns the column for rows of the file from one on.
func (f *TableFile) kept(first, rows int64) *arrow.Chunked {
	bits := arrowmemory.NewResizableBuffer(arrowmemory.DefaultAllocator)
	defer bits.Release()
	bits.Resize(int(bitutil.BytesForBits(rows)))
	bitutil.SetBitsTo(bits.Bytes(), 0, rows, true)
	if f.Deleted != nil {
		for row := range f.Deleted(first, first+rows) {
			bitutil.ClearBit(bits.Bytes(), int(row-first))
		}
	}
	data := array.NewData(arrow.FixedWidthTypes.Boolean, int(rows), []*arrowmemory.Buffer{nil, bits}, nil, 0, 0)
	defer data.Release()
	values := array.NewBooleanData(data)
	defer values.Release()
	return arrow.NewChunked(values.DataType(), []arrow.Array{values})
}

// keptRows returns the column for rows of a row group.
func (d *groupDecoder) keptRows(rows []span) (*arrow.Chunked, error) {
	first := rows[0].first
	all := d.group.file.listed.kept(d.group.footer.firstRow(d.group.index)+first, rows[len(rows)-1].end()-first)
	return pickSpans(all, first, rows, d.allocator)
}

// keptRange is the range of the column in rows of the file from one on.
func (f *TableFile) keptRange(first, rows int64) prune.Range {
	deleted := int64(0)
	if f.Deleted != nil {
		for range f.Deleted(first, first+rows) {
			deleted++
		}
	}
	return prune.Range{Low: deleted == 0, High: deleted < rows, Valid: rows}
}

// checkDeleted refuses deleted rows behind those of the file.
func (f *TableFile) checkDeleted(rows int64) error {
	if f.Deleted == nil {
		return nil
	}
	for row := range f.Deleted(rows, math.MaxInt64) {
		return fmt.Errorf("row %d is deleted, the file has %d rows: %w", row, rows, ErrContents)
	}
	return nil
}

// firstRow is the number of the first row of a row group in its file.
func (f *footer) firstRow(rowGroup int) (row int64) {
	for _, group := range f.metadata.Groups[:rowGroup] {
		row += group.Rows
	}
	return row
}
