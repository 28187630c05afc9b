package memory

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/internal/staging"
)

// widestGap is how many bytes between two regions are copied needlessly rather
// than by a transfer of their own, which costs as much as about 64 KiB on the
// link. Packed buffers lie closer than this.
const widestGap = 4096

// grouping makes spans of regions that are added in the order of their addresses,
// and holds their blocks. Only regions of one block ever share a span: what lies
// between two blocks is not ours to touch.
type grouping struct {
	// widest is the widest gap inside a span.
	widest uint64
	spans  []staging.Span
	pieces []staging.Piece
	blocks []*Block
}

// newGrouping has room for so many regions.
func newGrouping(regions int, widest uint64) grouping {
	return grouping{widest: widest, pieces: make([]staging.Piece, 0, regions)}
}

// add adds a region and the host's memory that belongs to it. Empty ones are left
// out.
func (g *grouping) add(region Slice[uint8], data []byte) error {
	if len(data) == 0 {
		return nil
	}
	known := len(g.blocks) > 0 && g.blocks[len(g.blocks)-1] == region.block
	if !known {
		if err := region.block.Retain(); err != nil {
			return err
		}
		g.blocks = append(g.blocks, region.block)
	}
	at, bytes := region.Pointer(), uint64(len(data))
	if known {
		last := &g.spans[len(g.spans)-1]
		if end := last.Base.Add(last.Bytes); at >= end && uint64(at-end) <= g.widest {
			offset := uint64(at - last.Base)
			g.pieces = append(g.pieces, staging.Piece{Offset: offset, Bytes: bytes, Data: data})
			last.Pieces = last.Pieces[:len(last.Pieces)+1] // which is where it now lies
			last.Bytes = offset + bytes
			return nil
		}
	}
	g.pieces = append(g.pieces, staging.Piece{Bytes: bytes, Data: data})
	g.spans = append(g.spans, staging.Span{
		Base: at, Bytes: bytes, InPlace: region.block.Kind().HostAccessible(), Pieces: g.pieces[len(g.pieces)-1:],
	})
	return nil
}

// recordUse notes that the transfer, which was enqueued on the stream, has used
// the blocks. What the processor has copied is done with.
func (g *grouping) recordUse(stream *device.Stream) error {
	var failures []error
	for _, block := range g.blocks {
		if !block.Kind().HostAccessible() {
			failures = append(failures, block.RecordUse(stream))
		}
	}
	return errors.Join(failures...)
}

func (g *grouping) release() {
	for _, block := range g.blocks {
		block.Release()
	}
}
