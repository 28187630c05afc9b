package arrowdev

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// hostData describes a column in host memory to arrow-go. The buffers hold references
// to the blocks, as loans; the caller releases the data.
func hostData(ctx context.Context, c *column.Column, loans *loans) (*array.Data, error) {
	parts := c.Data()
	l, err := layoutOf(parts.Type)
	if err != nil {
		return nil, err
	}
	// arrow-go has an empty slot for the bitmap of types that lack one.
	first := 0
	if !l.HasValidity() {
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
		release.Arrow(below)
	}()
	for i, region := range parts.Buffers {
		if buffers[first+i], err = hostBuffer(ctx, l, i, region, loans); err != nil {
			return nil, err
		}
	}
	if parts.Dictionary != nil {
		dictionary, err := hostData(ctx, parts.Dictionary, loans)
		if err != nil {
			return nil, err
		}
		defer dictionary.Release()
		return array.NewDataWithDictionary(parts.Type, parts.Length, buffers, parts.NullCount, parts.Offset, dictionary), nil
	}
	for _, child := range parts.Children {
		data, err := hostData(ctx, child, loans)
		if err != nil {
			return nil, err
		}
		below = append(below, data)
	}
	if l.Storage.ID() == arrow.MAP {
		for _, each := range []arrow.ArrayData{below[0], below[0].Children()[0]} {
			if countNulls(each) > 0 {
				return nil, fmt.Errorf("an entry or a key of %v is null: %w", parts.Type, ErrInvalid)
			}
		}
	}
	return array.NewData(parts.Type, parts.Length, buffers, below, parts.NullCount, parts.Offset), nil
}

// countNulls returns the number of null elements, and stores it if it was unknown.
// arrow-go refuses nulls among the entries and the keys of maps. It takes an unknown
// count for a positive one and panics; for the maps of a dictionary it panics only
// when they are accessed.
func countNulls(data arrow.ArrayData) int {
	if bits := data.Buffers()[0]; data.NullN() == array.UnknownNullCount && bits != nil {
		data.(*array.Data).SetNullN(data.Len() - bitutil.CountSetBits(bits.Bytes(), data.Offset(), data.Len()))
	}
	return data.NullN()
}

// hostBuffer wraps buffer i of a column.
func hostBuffer(ctx context.Context, l layout.Layout, i int, region column.Bytes, loans *loans) (*arrowmemory.Buffer, error) {
	switch {
	case region.Len() > 0:
	case i == 0 && l.HasValidity():
		return nil, nil
	case i == 1 && (l.Kind == layout.Binary || l.Kind == layout.List):
		return arrowmemory.NewBufferBytes(make([]byte, l.Width)), nil // the one offset of an empty array
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
	if err := region.Block().Retain(); err != nil {
		return nil, err
	}
	return arrowmemory.NewBufferWithAllocator(bytes, loans.borrow(region.Block())), nil
}

// loans are the references to blocks that the buffers of one array hold.
type loans struct{ all []*borrowed }

func (l *loans) borrow(block *memory.Block) *borrowed {
	loan := &borrowed{block: block}
	l.all = append(l.all, loan)
	return loan
}

// recall releases the references of all buffers, however often they were retained.
func (l *loans) recall() {
	for _, loan := range l.all {
		loan.Free(nil)
	}
}

// borrowed is the allocator of a buffer that borrows a block. Its Free releases the
// block, once.
type borrowed struct {
	block *memory.Block
	given atomic.Bool
}

// Allocate makes new memory. arrow-go does not call it, because the buffers are
// immutable.
func (*borrowed) Allocate(size int) []byte { return make([]byte, size) }

// Reallocate copies into new memory.
func (b *borrowed) Reallocate(size int, bytes []byte) []byte {
	larger := make([]byte, size)
	copy(larger, bytes)
	b.Free(bytes)
	return larger
}

// Free releases the block.
func (b *borrowed) Free([]byte) {
	if b.given.Swap(true) {
		return
	}
	if err := b.block.Release(); err != nil {
		slog.Error("gpuframe: memory of an Arrow array could not be released", "error", err)
	}
}
