package source

import (
	"errors"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// Columns that are no lists and no structs are decoded by package pages if it knows their types,
// encodings and compression. arrow-go decodes the others.

// flatColumns is false if arrow-go decodes all columns.
var flatColumns = true // tests change it

// flatColumn decodes a column chunk.
type flatColumn struct {
	decoder *pages.Decoder
	part    *chunkPart
	at      int64 // the next row of the part
	// bytes are those of the chunk, in memory of chunkBytes.
	bytes *[]byte
}

// chunkBytes has memory for the bytes of column chunks, so that it is not cleared for each of
// them.
var chunkBytes = sync.Pool{New: func() any { return new([]byte) }}

// flat describes a column chunk for its decoder, and reports whether the metadata allow one.
func (d *groupDecoder) flat(i int) (about pages.Flat, ok bool) {
	if len(d.leaves[i]) != 1 || !flatColumns || d.group.footer.converts(d.schema.Field(i).Name) {
		return about, false
	}
	f, leaf := d.group.footer, d.leaves[i][0]
	chunk, column := f.metadata.GetRowGroups()[d.group.index].GetColumns()[leaf], f.metadata.Schema.Column(leaf)
	about = pages.Flat{
		Column: f.chunk(d.group.index, leaf), Physical: column.PhysicalType(), Width: column.TypeLength(), Type: d.records.Field(i).Type,
	}
	return about, !chunk.IsSetCryptoMetadata() && about.Values == d.group.all() && about.Decodable()
}

// openFlat returns the decoder of a column, or nil if arrow-go has to decode it.
func (d *groupDecoder) openFlat(i int) (*flatColumn, error) {
	about, ok := d.flat(i)
	if !ok {
		return nil, nil
	}
	c := &flatColumn{bytes: chunkBytes.Get().(*[]byte)}
	if err := c.open(d, d.leaves[i][0], about); err != nil {
		c.release()
		if errors.Is(err, pages.ErrOther) {
			err = nil
		}
		return nil, err
	}
	return c, nil
}

func (c *flatColumn) open(d *groupDecoder, leaf int, about pages.Flat) (err error) {
	if c.part, err = d.chunkPart(leaf); err != nil {
		return err
	}
	if int64(cap(*c.bytes)) < c.part.length {
		*c.bytes = make([]byte, c.part.length)
	}
	*c.bytes = (*c.bytes)[:c.part.length]
	if err := c.part.read(d.from, *c.bytes); err != nil {
		return err
	}
	about.Values = c.part.rows
	if c.part.pages != nil {
		plan, err := pages.NewPlan(*c.bytes, about.Column)
		if err == nil {
			err = c.part.check(plan)
		}
		if err != nil {
			return err
		}
	}
	if c.decoder, err = pages.NewDecoder(*c.bytes, about, d.allocator); err == nil {
		d.count(c.part)
	}
	return err
}

// next decodes rows from one of the row group on, into several arrays if one cannot have them.
func (c *flatColumn) next(t arrow.DataType, first, rows int64) (*arrow.Chunked, error) {
	for first = c.part.place(first); c.at < first; {
		skipped, err := c.decoder.Next(first - c.at)
		if err != nil {
			return nil, err
		}
		c.at += int64(skipped.Len())
		skipped.Release()
	}
	c.at += rows
	var arrays []arrow.Array
	defer func() { release.Arrow(arrays) }()
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
