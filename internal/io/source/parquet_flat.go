package source

import (
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// Columns that are no lists and no structs are decoded by package pages if it knows their types,
// encodings and compression. arrow-go decodes the others.

// flatColumns is false if arrow-go decodes all columns.
var flatColumns = true // tests change it

// flatColumn decodes a column chunk.
type flatColumn struct {
	decoder *pages.Decoder
	// bytes are those of the chunk, in memory of chunkBytes.
	bytes *[]byte
}

// chunkBytes has memory for the bytes of column chunks, so that it is not cleared for each of
// them.
var chunkBytes = sync.Pool{New: func() any { return new([]byte) }}

// flat describes a column chunk for its decoder, and reports whether the metadata allow one.
func (d *groupDecoder) flat(i int) (about pages.Flat, ok bool) {
	if len(d.leaves[i]) != 1 || !flatColumns {
		return about, false
	}
	f, leaf := d.group.footer, d.leaves[i][0]
	chunk, column := f.metadata.GetRowGroups()[d.group.index].GetColumns()[leaf], f.metadata.Schema.Column(leaf)
	about = pages.Flat{
		Column: f.chunk(d.group.index, leaf), Physical: column.PhysicalType(), Width: column.TypeLength(), Type: d.records.Field(i).Type,
	}
	return about, !chunk.IsSetCryptoMetadata() && about.Values == d.group.rows && about.Decodable()
}

// openFlat returns the decoder of a column, or nil if arrow-go has to decode it.
func (d *groupDecoder) openFlat(i int) (*flatColumn, error) {
	about, ok := d.flat(i)
	if !ok {
		return nil, nil
	}
	c := &flatColumn{bytes: chunkBytes.Get().(*[]byte)}
	leaf := d.leaves[i][0]
	err := c.read(d.from, d.group.footer.startOf(d.group.index, leaf), d.group.footer.metadata.GetRowGroups()[d.group.index].GetColumns()[leaf].MetaData.GetTotalCompressedSize())
	if err == nil {
		c.decoder, err = pages.NewDecoder(*c.bytes, about, d.allocator)
	}
	if err != nil {
		c.release()
		if errors.Is(err, pages.ErrOther) {
			err = nil
		}
		return nil, err
	}
	return c, nil
}

func (c *flatColumn) read(from io.ReaderAt, offset, length int64) error {
	if int64(cap(*c.bytes)) < length {
		*c.bytes = make([]byte, length)
	}
	*c.bytes = (*c.bytes)[:length]
	return readPart(from, *c.bytes, offset)
}

// next decodes the next rows, into several arrays if one cannot have them.
func (c *flatColumn) next(t arrow.DataType, rows int64) (*arrow.Chunked, error) {
	var arrays []arrow.Array
	defer func() {
		for _, each := range arrays {
			each.Release()
		}
	}()
	for {
		array, err := c.decoder.Next(rows)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, array)
		if rows -= int64(array.Len()); rows <= 0 || array.Len() == 0 {
			return arrow.NewChunked(t, arrays), nil
		}
	}
}

func (c *flatColumn) release() {
	if c.decoder != nil {
		c.decoder.Close()
	}
	chunkBytes.Put(c.bytes)
	c.bytes, c.decoder = nil, nil
}
