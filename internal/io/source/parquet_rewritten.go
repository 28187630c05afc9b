package source

import (
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// rewrites reports whether arrow-go reads a column chunk only after a change: see [pages.Rewrites].
func (f *footer) rewrites(rowGroup, leaf int) bool {
	chunk := f.metadata.GetRowGroups()[rowGroup].GetColumns()[leaf]
	var encodings []int
	for _, encoding := range chunk.GetMetaData().GetEncodings() {
		encodings = append(encodings, int(encoding))
	}
	return !chunk.IsSetCryptoMetadata() && pages.Rewrites(f.metadata.Schema.Column(leaf).PhysicalType(), encodings)
}

// behindFile is a file with further bytes behind its end.
type behindFile struct {
	io.ReaderAt
	size int64
	more []byte
}

// ReadAt implements io.ReaderAt. A read is of the file or of the bytes behind it.
func (b *behindFile) ReadAt(p []byte, offset int64) (int, error) {
	if offset < b.size {
		return b.ReaderAt.ReadAt(p, offset)
	}
	if offset > b.size+int64(len(b.more)) {
		return 0, io.EOF
	}
	n := copy(p, b.more[offset-b.size:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// rewritten returns a reader of the row group for a column of which some chunks have to be rewritten.
// It finds these behind the end of the file.
func (d *groupDecoder) rewritten(i int) (*pqarrow.FileReader, error) {
	f, at := d.group.footer, d.group.index
	file := &behindFile{ReaderAt: d.checks, size: f.size}
	about, all := *f.metadata, *f.metadata.FileMetaData
	group := *all.RowGroups[at]
	group.Columns = slices.Clone(group.Columns)
	for _, leaf := range d.leaves[i] {
		if !f.rewrites(at, leaf) {
			continue
		}
		chunk, err := d.rewriteChunk(leaf)
		if err != nil {
			return nil, err
		}
		column, values := *group.Columns[leaf], *group.Columns[leaf].MetaData
		begin := f.size + int64(len(file.more))
		values.Codec, values.TotalCompressedSize, values.TotalUncompressedSize = 0, int64(len(chunk.Pages)), int64(len(chunk.Pages))
		values.DictionaryPageOffset, values.DataPageOffset = nil, begin
		if chunk.Dictionary > 0 {
			values.DictionaryPageOffset, values.DataPageOffset = &begin, begin+int64(chunk.Dictionary)
		}
		column.MetaData = &values
		group.Columns[leaf] = &column
		file.more = append(file.more, chunk.Pages...)
	}
	all.RowGroups = slices.Clone(all.RowGroups)
	all.RowGroups[at] = &group
	about.FileMetaData = &all
	return d.arrowReader(file, f.size+int64(len(file.more)), &about)
}

// rewriteChunk reads a column chunk and rewrites it.
func (d *groupDecoder) rewriteChunk(leaf int) (pages.Rewritten, error) {
	f := d.group.footer
	chunk, column := f.metadata.GetRowGroups()[d.group.index].GetColumns()[leaf].GetMetaData(), f.metadata.Schema.Column(leaf)
	about := pages.Flat{Column: f.chunk(d.group.index, leaf), Physical: column.PhysicalType(), Width: column.TypeLength()}
	data := make([]byte, chunk.GetTotalCompressedSize())
	n, err := d.from.ReadAt(data, f.startOf(d.group.index, leaf))
	if n < len(data) {
		return pages.Rewritten{}, fmt.Errorf("the column chunk has %d bytes, the file %d of them: %w", len(data), n, err)
	}
	return pages.Rewrite(data, about)
}

// withoutInstants returns a chunk of a type with nulls in place of [pages.NoInstant], in columns of
// timestamps of 96 bits. It takes the reference to the chunk. leaves are the columns of the file.
func (f *footer) withoutInstants(chunk *arrow.Chunked, t arrow.DataType, leaves []int) *arrow.Chunked {
	if !slices.ContainsFunc(leaves, f.isInstant) {
		return chunk
	}
	defer chunk.Release()
	parts := make([]arrow.Array, len(chunk.Chunks()))
	for i, part := range chunk.Chunks() {
		rest := leaves
		data := f.dataWithoutInstants(part.Data(), t, &rest)
		parts[i] = array.MakeFromData(data)
		data.Release()
		defer parts[i].Release()
	}
	return arrow.NewChunked(t, parts)
}

// isInstant reports whether a column of the file has timestamps of 96 bits.
func (f *footer) isInstant(leaf int) bool {
	return f.metadata.Schema.Column(leaf).PhysicalType() == parquet.Types.Int96
}

func (f *footer) dataWithoutInstants(data arrow.ArrayData, t arrow.DataType, leaves *[]int) arrow.ArrayData {
	if l, err := layout.Of(t); err == nil && l.Children() > 0 {
		children := make([]arrow.ArrayData, l.Children())
		for i, child := range data.Children() {
			element, _ := l.Child(i)
			children[i] = f.dataWithoutInstants(child, element, leaves)
			defer children[i].Release()
		}
		return array.NewData(t, data.Len(), data.Buffers(), children, data.NullN(), data.Offset())
	}
	leaf := (*leaves)[0]
	*leaves = (*leaves)[1:]
	data.Retain()
	if !f.isInstant(leaf) {
		return data
	}
	instants := array.NewTimestampData(data)
	defer instants.Release()
	var valid []byte
	for row, value := range instants.TimestampValues() {
		if value != pages.NoInstant || instants.IsNull(row) {
			continue
		}
		if valid == nil {
			valid = make([]byte, bitutil.BytesForBits(int64(data.Offset()+data.Len())))
			for i := range data.Len() {
				bitutil.SetBitTo(valid, data.Offset()+i, instants.IsValid(i))
			}
		}
		bitutil.ClearBit(valid, data.Offset()+row)
	}
	if valid == nil {
		return data
	}
	defer data.Release()
	buffers := slices.Clone(data.Buffers())
	buffers[0] = arrowmemory.NewBufferBytes(valid)
	return array.NewData(t, data.Len(), buffers, nil, array.UnknownNullCount, data.Offset())
}
