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
	tree   *pages.Nested
	leaves []pages.LeafChunk
	// rows are those of the row group, and most the number that is decoded at a time.
	rows, most int64
	mem        arrowmemory.Allocator
	decoder    *pages.NestedDecoder
	at         int64 // the next row
	bytes      *[]byte
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
	column := c.onHost(*bytes, d.hostMemory())
	column.bytes = bytes
	if err := column.open(); err != nil {
		column.release()
		return nil, err
	}
	d.count(part)
	return column, nil
}

// onHost returns the column of lists or structs that is in some bytes.
func (c *rawChunk) onHost(bytes []byte, mem arrowmemory.Allocator) *nestedColumn {
	column := &nestedColumn{tree: c.nested, rows: c.rows, most: mostRecordRows, mem: mem}
	for _, leaf := range c.leaves {
		column.leaves = append(column.leaves, pages.LeafChunk{Data: bytes[leaf.begin:leaf.end], About: leaf.about})
	}
	return column
}

// open begins with the first row, again if the column was open.
func (c *nestedColumn) open() (err error) {
	c.close()
	c.at = 0
	c.decoder, err = pages.NewNestedDecoder(c.tree, c.leaves, c.rows, c.mem)
	return err
}

// next implements [hostColumn]. Rows that are longer than an array may be are decoded again, half as many at a time.
func (c *nestedColumn) next(t arrow.DataType, first, rows int64) (*arrow.Chunked, error) {
	var arrays []arrow.Array
	defer func() { release.Arrow(arrays) }()
	for end := first + rows; c.at < end; {
		count := min(end-c.at, c.most)
		if c.at < first {
			count = min(first-c.at, c.most)
		}
		values, err := c.decoder.Next(count)
		if errors.Is(err, pages.ErrLong) && count > 1 {
			c.most, first = count/2, max(first, c.at)
			if err = c.open(); err == nil {
				continue
			}
		}
		if errors.Is(err, pages.ErrLong) {
			err = fmt.Errorf("one row: %w: %w", err, ErrUnsupported)
		}
		if err != nil {
			return nil, err
		}
		before, length := c.at < first, values.Len()
		if before {
			values.Release()
		} else {
			arrays = append(arrays, values)
		}
		if c.at += int64(length); length == 0 {
			break
		}
	}
	return arrow.NewChunked(t, arrays), nil
}

func (c *nestedColumn) close() {
	if c.decoder != nil {
		c.decoder.Close()
	}
	c.decoder = nil
}

func (c *nestedColumn) release() {
	c.close()
	if c.bytes != nil {
		chunkBytes.Put(c.bytes)
	}
	c.bytes = nil
}

// boundedHost is the memory of columns that the host decodes because memory of the device is short.
var boundedHost = arrowipc.Bounded{Allocator: arrowmemory.DefaultAllocator, Most: arrowipc.MostBuffer}
