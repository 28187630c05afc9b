package arrowdev

import (
	"context"
	"log/slog"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// hostData describes a column in host memory to arrow-go. The buffers hold
// references to the blocks; the caller releases the data.
func hostData(ctx context.Context, c *column.Column) (*array.Data, error) {
	parts := c.Data()
	l, err := layoutOf(parts.Type)
	if err != nil {
		return nil, err
	}
	// arrow-go gives types that lack a bitmap an empty place for it.
	first := 0
	if !l.hasValidity() {
		first = 1
	}
	buffers := make([]*arrowmemory.Buffer, first+len(parts.Buffers))
	var below []arrow.ArrayData
	defer func() {
		for _, buffer := range buffers {
			if buffer != nil {
				buffer.Release()
			}
		}
		for _, data := range below {
			data.Release()
		}
	}()
	for i, region := range parts.Buffers {
		if buffers[first+i], err = hostBuffer(ctx, l, i, region); err != nil {
			return nil, err
		}
	}
	if parts.Dictionary != nil {
		dictionary, err := hostData(ctx, parts.Dictionary)
		if err != nil {
			return nil, err
		}
		defer dictionary.Release()
		return array.NewDataWithDictionary(parts.Type, parts.Length, buffers, parts.NullCount, parts.Offset, dictionary), nil
	}
	for _, child := range parts.Children {
		data, err := hostData(ctx, child)
		if err != nil {
			return nil, err
		}
		below = append(below, data)
	}
	return array.NewData(parts.Type, parts.Length, buffers, below, parts.NullCount, parts.Offset), nil
}

// hostBuffer wraps buffer i of a column.
func hostBuffer(ctx context.Context, l layout, i int, region column.Bytes) (*arrowmemory.Buffer, error) {
	switch {
	case region.Len() > 0:
	case i == 0 && l.hasValidity():
		return nil, nil
	case i == 1 && (l.kind == kindBinary || l.kind == kindList):
		return arrowmemory.NewBufferBytes(make([]byte, l.width)), nil // the one offset of an empty array
	default:
		return arrowmemory.NewBufferBytes(nil), nil
	}
	if err := region.Block().Synchronize(ctx); err != nil {
		return nil, err
	}
	bytes, err := region.Host()
	if err != nil {
		return nil, err
	}
	if err := region.Retain(); err != nil {
		return nil, err
	}
	return arrowmemory.NewBufferWithAllocator(bytes, borrowed{region.Block()}), nil
}

// borrowed is the allocator of a buffer whose memory is a block's: all it can do is
// to give that back.
type borrowed struct{ block *memory.Block }

// Allocate makes new memory. arrow-go asks for none, for the buffers are immutable.
func (borrowed) Allocate(size int) []byte { return make([]byte, size) }

// Reallocate copies into new memory.
func (b borrowed) Reallocate(size int, bytes []byte) []byte {
	larger := make([]byte, size)
	copy(larger, bytes)
	b.Free(bytes)
	return larger
}

// Free releases the block.
func (b borrowed) Free([]byte) {
	if err := b.block.Release(); err != nil {
		slog.Error("gpuframe: memory of an Arrow array could not be released", "error", err)
	}
}
