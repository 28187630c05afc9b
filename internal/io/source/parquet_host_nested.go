package source

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/arrays/arrowipc"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// nestedColumn decodes a column of lists or structs on the host.
type nestedColumn struct {
	decoder *pages.NestedDecoder
	at      int64 // the next row
	bytes   *[]byte
	mem     arrowmemory.Allocator
}

// openHostNested reads the column chunks of a column of lists or structs.
func (d *groupDecoder) openHostNested(i int) (hostColumn, error) {
	tree, err := d.nested(i)
	if err != nil {
		return nil, err
	}
	part, leaves := d.nestedPart(tree)
	bytes := chunkBytes.Get().(*[]byte)
	if err := part.readInto(d.from, bytes); err != nil {
		chunkBytes.Put(bytes)
		return nil, err
	}
	c := &rawChunk{nested: tree, leaves: leaves, rows: d.group.all()}
	column := &nestedColumn{bytes: bytes, mem: d.hostMemory()}
	if column.decoder, err = c.onHost(*bytes, column.mem); err != nil {
		column.release()
		return nil, err
	}
	d.count(part)
	return column, nil
}

// onHost returns the decoder of a column of lists or structs that is in some bytes.
func (c *rawChunk) onHost(bytes []byte, mem arrowmemory.Allocator) (*pages.NestedDecoder, error) {
	leaves := make([]pages.LeafChunk, len(c.leaves))
	for i, leaf := range c.leaves {
		leaves[i] = pages.LeafChunk{Data: bytes[leaf.begin:leaf.end], About: leaf.about}
	}
	return pages.NewNestedDecoder(c.nested, leaves, c.rows, mem)
}

// next implements [hostColumn]. It decodes the rows between them, too.
func (c *nestedColumn) next(t arrow.DataType, rows []span) (*arrow.Chunked, error) {
	first := rows[0].first
	all, err := c.between(t, first, rows[len(rows)-1].end())
	if err != nil {
		return nil, err
	}
	return pickSpans(all, first, rows, c.mem)
}

// between decodes the rows from one to another.
func (c *nestedColumn) between(t arrow.DataType, first, end int64) (*arrow.Chunked, error) {
	var arrays []arrow.Array
	defer func() { release.Arrow(arrays) }()
	for c.at < end {
		count, before := end-c.at, c.at < first
		if before {
			count = first - c.at
		}
		values, err := c.decoder.Next(count)
		if errors.Is(err, pages.ErrLong) {
			err = fmt.Errorf("%w: %w", err, ErrUnsupported)
		}
		if err != nil {
			return nil, err
		}
		length := int64(values.Len())
		if before {
			values.Release()
		} else {
			arrays = append(arrays, values)
		}
		if c.at += length; length == 0 {
			break
		}
	}
	return arrow.NewChunked(t, arrays), nil
}

func (c *nestedColumn) release() {
	if c.decoder != nil {
		c.decoder.Close()
	}
	if c.bytes != nil {
		chunkBytes.Put(c.bytes)
	}
	c.decoder, c.bytes = nil, nil
}

// boundedHost is the memory of columns that the host decodes because memory of the device is short.
var boundedHost = arrowipc.Bounded{Allocator: arrowmemory.DefaultAllocator, Most: arrowipc.MostBuffer}
