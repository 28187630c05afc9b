package memory

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/internal/staging"
)

// widestGap is the widest gap between two regions that is copied along with them. A
// separate transfer costs as much as copying about 64 KiB over the link. Gaps between
// packed buffers are narrower than widestGap.
const widestGap = 4096

// grouping merges regions, added in ascending order of address, into spans, and retains
// their blocks. A span never covers two blocks: gpuframe does not own the memory
// between blocks.
type grouping struct {
	// widest is the widest gap inside a span.
	widest uint64
	spans  []staging.Span
	pieces []staging.Piece
	blocks []*Block
}

// newGrouping returns an empty grouping with capacity for the given number of regions.
func newGrouping(regions int, widest uint64) grouping {
	return grouping{widest: widest, pieces: make([]staging.Piece, 0, regions)}
}

// add adds a region and its host memory. It ignores empty regions.
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
			last.Pieces = last.Pieces[:len(last.Pieces)+1] // extend over the piece just appended
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

// record records the use of the blocks by the transfer, which was enqueued on the stream, by
// RecordUse or RecordRead. Blocks that the processor copied itself need no record.
func (g *grouping) record(use func(*Block, *device.Stream) error, stream *device.Stream) error {
	var failures []error
	for _, block := range g.blocks {
		if !block.Kind().HostAccessible() {
			failures = append(failures, use(block, stream))
		}
	}
	return errors.Join(failures...)
}

func (g *grouping) release() {
	for _, block := range g.blocks {
		block.Release()
	}
}
