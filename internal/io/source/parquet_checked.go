package source

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// checkedAt reads a file for arrow-go, which reads each column chunk by one call, and checks
// the chunks that are expected.
type checkedAt struct {
	from io.ReaderAt

	mu sync.Mutex
	// chunks are the expected ones, by their place in the file.
	chunks map[int64]checkedChunk
	// dictionaries are the lengths of the dictionaries at the begin of chunks that were read.
	dictionaries map[int64]int64
}

// checkedChunk is a column chunk that will be read.
type checkedChunk struct {
	column pages.Column
	length int64
	// again keeps the bytes for a second reader.
	again bool
	kept  []byte
}

func newChecks(from io.ReaderAt) *checkedAt {
	return &checkedAt{from: from, chunks: map[int64]checkedChunk{}, dictionaries: map[int64]int64{}}
}

// expect announces a column chunk. If again is true, it is read twice, and the second time
// from memory.
func (c *checkedAt) expect(f *footer, rowGroup, leaf int, again bool) {
	chunk := f.metadata.GetRowGroups()[rowGroup].GetColumns()[leaf]
	if chunk.IsSetCryptoMetadata() {
		return
	}
	start := f.startOf(rowGroup, leaf)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.chunks[start] = checkedChunk{column: f.chunk(rowGroup, leaf), length: chunk.MetaData.GetTotalCompressedSize(), again: again}
}

// chunk describes a column chunk.
func (f *footer) chunk(rowGroup, leaf int) pages.Column {
	about, column := f.metadata.GetRowGroups()[rowGroup].GetColumns()[leaf].GetMetaData(), f.metadata.Schema.Column(leaf)
	return pages.Column{
		Codec: compress.Compression(about.GetCodec()), Values: about.GetNumValues(),
		MaxDefinition: column.MaxDefinitionLevel(), MaxRepetition: column.MaxRepetitionLevel(),
	}
}

// ReadAt implements io.ReaderAt.
func (c *checkedAt) ReadAt(p []byte, offset int64) (int, error) {
	c.mu.Lock()
	chunk, expected := c.chunks[offset]
	expected = expected && int64(len(p)) >= chunk.length
	if expected {
		delete(c.chunks, offset)
	}
	c.mu.Unlock()
	if len(chunk.kept) == len(p) && expected {
		return copy(p, chunk.kept), nil
	}
	n, err := c.from.ReadAt(p, offset)
	if !expected || n < len(p) {
		return n, err
	}
	if failure := pages.Check(p, chunk.column); failure != nil {
		return n, fmt.Errorf("%w: %w", failure, ErrContents)
	}
	if header, err := pages.Read(p); err == nil && header.Kind == pages.DictionaryPage {
		c.mu.Lock()
		c.dictionaries[offset] = header.Values
		c.mu.Unlock()
	}
	if chunk.again {
		chunk.kept, chunk.again = append([]byte(nil), p...), false
		c.mu.Lock()
		c.chunks[offset] = chunk
		c.mu.Unlock()
	}
	return n, err
}

// dictionaryLength returns the number of values in the dictionary of a column chunk that was
// read, or -1.
func (c *checkedAt) dictionaryLength(f *footer, rowGroup, leaf int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if length, ok := c.dictionaries[f.startOf(rowGroup, leaf)]; ok {
		return length
	}
	return -1
}

// startOf returns the place of the first page of a column chunk.
func (f *footer) startOf(rowGroup, leaf int) int64 {
	chunk := f.metadata.GetRowGroups()[rowGroup].GetColumns()[leaf].MetaData
	start := chunk.GetDataPageOffset()
	if chunk.IsSetDictionaryPageOffset() && chunk.GetDictionaryPageOffset() > 0 {
		start = min(start, chunk.GetDictionaryPageOffset())
	}
	return start
}

// hasStruct reports whether arrow-go decodes a type, or a part of it, as a struct: it uses
// goroutines for these, in which a panic ends the process.
func hasStruct(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.StructType, *arrow.MapType:
		return true
	case arrow.ListLikeType:
		return hasStruct(t.Elem())
	case arrow.ExtensionType:
		return hasStruct(t.StorageType())
	}
	return false
}

// tryLeaves decodes all values of a column with structs once, each leaf by itself, on this
// goroutine and in the steps of the reader: what panics in arrow-go panics here.
func (d *groupDecoder) tryLeaves(ctx context.Context, reader *pqarrow.FileReader, i int) (err error) {
	defer recovered(&err)
	for _, leaf := range d.leaves[i] {
		if err := d.tryLeaf(ctx, reader, leaf); err != nil {
			return err
		}
	}
	return nil
}

func (d *groupDecoder) tryLeaf(ctx context.Context, reader *pqarrow.FileReader, leaf int) error {
	field := reader.Manifest.ColIndexToField[leaf]
	if field == nil {
		return fmt.Errorf("column %d belongs to no field: %w", leaf, ErrContents)
	}
	single, manifest := *reader, *reader.Manifest
	manifest.Fields = []pqarrow.SchemaField{*field}
	single.Manifest = &manifest
	column, err := single.GetFieldReader(ctx, 0, map[int]bool{leaf: true}, []int{d.group.index})
	if err != nil {
		return err
	}
	defer column.Release()
	step, all := d.step(), d.group.all()
	if d.group.spans != nil {
		step = max(1, all) // as spanRows
	}
	for done := int64(0); done < all; done += step {
		if err := cancel.Error(ctx); err != nil {
			return err
		}
		values, err := column.NextBatch(min(step, all-done))
		if err != nil {
			return err
		}
		values.Release()
	}
	return nil
}
