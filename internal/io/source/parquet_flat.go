package source

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/arrays/arrowipc"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// hostColumn decodes a column of a row group on the host.
type hostColumn interface {
	// next decodes rows of the row group, which are in order and behind those before, as chunks of a type.
	next(t arrow.DataType, rows []span) (*arrow.Chunked, error)
	release()
}

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

// flat describes the column chunk of a column that is neither a list nor a struct, and reports whether it is one.
func (d *groupDecoder) flat(i int) (about pages.Flat, ok bool) {
	t := d.fileType(i)
	if len(d.leaves[i]) != 1 || arrow.IsNested(t.ID()) || d.checkLeaf(d.leaves[i][0]) != nil {
		return about, false
	}
	about = d.group.footer.chunk(d.group.index, d.leaves[i][0], t)
	return about, about.MaxDefinition <= 1 && about.MaxRepetition == 0
}

// deviceFlat is [groupDecoder.flat] for columns that the device may decode.
func (d *groupDecoder) deviceFlat(i int) (about pages.Flat, ok bool) {
	about, ok = d.flat(i)
	return about, ok && d.device && !d.group.footer.converts(d.schema.Field(i).Name) && about.Decodable()
}

// checkLeaf returns why a column chunk cannot be read by its metadata.
func (d *groupDecoder) checkLeaf(leaf int) error {
	f := d.group.footer
	chunk, all := f.about(d.group.index, leaf), d.group.all()
	if chunk.IsEncrypted {
		return fmt.Errorf("it is encrypted: %w", ErrUnsupported)
	}
	values, repeated := chunk.Values, f.column(leaf).MaxRepetition > 0
	if values < all || values > all && !repeated {
		return fmt.Errorf("it has %d values for %d rows: %w", values, all, ErrContents)
	}
	return nil
}

// openHost returns the decoder of a column on the host.
func (d *groupDecoder) openHost(i int) (c hostColumn, err error) {
	if len(d.leaves[i]) == 0 {
		return nil, fmt.Errorf("it has no values in the file: %w", ErrContents)
	}
	for _, leaf := range d.leaves[i] {
		if err := d.checkLeaf(leaf); err != nil {
			return nil, err
		}
	}
	if about, ok := d.flat(i); ok {
		c, err = d.openFlat(i, about)
	} else {
		c, err = d.openHostNested(i)
	}
	if errors.Is(err, pages.ErrOther) {
		err = fmt.Errorf("%w: %w", err, ErrUnsupported)
	}
	return c, err
}

// hostMemory is the allocator of decoders: what a damaged file claims is limited.
func (p *parquetRecords) hostMemory() arrowmemory.Allocator {
	return arrowipc.Bounded{Allocator: p.allocator, Most: arrowipc.MostBuffer}
}

// openFlat returns the decoder of a column that is neither a list nor a struct. Of a column with conditions the bytes were read before.
func (d *groupDecoder) openFlat(i int, about pages.Flat) (hostColumn, error) {
	c := d.takeMatched(i)
	if c == nil {
		var err error
		if c, err = d.readFlat(d.leaves[i][0], about); err != nil {
			return nil, err
		}
	}
	about.Values = c.part.rows
	var err error
	if c.decoder, err = pages.NewDecoder(*c.bytes, about, d.hostMemory()); err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

// readFlat reads the bytes of a column that is neither a list nor a struct.
func (d *groupDecoder) readFlat(leaf int, about pages.Flat) (c *flatColumn, err error) {
	c = &flatColumn{bytes: chunkBytes.Get().(*[]byte)}
	if err := c.read(d, leaf, about); err != nil {
		c.release()
		return nil, err
	}
	return c, nil
}

func (c *flatColumn) read(d *groupDecoder, leaf int, about pages.Flat) (err error) {
	if c.part, err = d.chunkPart(leaf); err != nil {
		return err
	}
	if err := c.part.readInto(d.from, c.bytes); err != nil {
		return err
	}
	d.count(c.part)
	if c.part.pages == nil {
		return nil
	}
	about.Values = c.part.rows
	plan, err := pages.NewPlan(*c.bytes, about.Column)
	if err != nil {
		return err
	}
	return c.part.check(plan)
}

// readInto reads the bytes into memory that may have room for them.
func (p *chunkPart) readInto(from io.ReaderAt, bytes *[]byte) error {
	if int64(cap(*bytes)) < p.length {
		*bytes = make([]byte, p.length)
	}
	*bytes = (*bytes)[:p.length]
	return p.read(from, *bytes)
}

// next implements [hostColumn], with several arrays if one cannot have the rows.
func (c *flatColumn) next(t arrow.DataType, rows []span) (*arrow.Chunked, error) {
	runs := make([]pages.Run, len(rows))
	for i, s := range rows {
		first := c.part.place(s.first)
		runs[i] = pages.Run{Skip: first - c.at, Take: s.rows}
		c.at = first + s.rows
	}
	var arrays []arrow.Array
	defer func() { release.Arrow(arrays) }()
	for {
		array, rest, err := c.decoder.Pick(runs)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, array)
		if len(rest) == 0 || array.Len() == 0 {
			return arrow.NewChunked(t, arrays), nil
		}
		runs = rest
	}
}

func (c *flatColumn) release() {
	if c.decoder != nil {
		c.decoder.Close()
	}
	chunkBytes.Put(c.bytes)
	c.bytes, c.decoder = nil, nil
}
