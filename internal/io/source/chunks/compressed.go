package chunks

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/io/decompress"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// codec is a compression, and how many times the length of its bytes a page may have at most. That bounds the memory
// which a damaged header can claim.
type codec struct {
	decompress.Codec
	most int64
}

var codecs = map[parquetformat.Codec]codec{
	parquetformat.Snappy: {decompress.Snappy, 22}, // copies of 64 bytes in 3
	parquetformat.LZ4Raw: {decompress.LZ4Raw, 255},
	parquetformat.Gzip:   {decompress.Gzip, 1032}, // 258 bytes in 2 bits
	parquetformat.Zstd:   {decompress.Zstandard, 1 << 15},
}

// decompresses reports whether the kernels know a compression.
func decompresses(c parquetformat.Codec) bool {
	known, ok := codecs[c]
	return c == parquetformat.Uncompressed || ok && decompress.Supported(known.Codec)
}

// packed is the compressed pages of a codec.
type packed struct {
	pages []decompress.Page // Source and Target are offsets in the spaces input and plain
	// words is the place of the words of the pages in the space input, status that of their statuses in plain.
	words, status place
}

// decompressed plans the decompression of a page behind its levels, and returns the place of its bytes.
func (p *planner) decompressed(h pages.Page, body place, c parquetformat.Codec) (number int, plain place, err error) {
	known := codecs[c]
	compressed, length := h.Compressed-h.Levels, h.Uncompressed-h.Levels
	if int64(length) > known.most*int64(compressed)+64 {
		return 0, 0, fmt.Errorf("the page has %d bytes by its header, and %d with compression: %w", length, compressed, pages.ErrDamaged)
	}
	plain = p.spaces.plain.take(uint64(length))
	group := p.packed[known.Codec]
	if group == nil {
		group = &packed{}
		p.packed[known.Codec] = group
	}
	group.pages = append(group.pages, decompress.Page{Source: body.offset(), Target: plain.offset(), Compressed: uint32(compressed), Length: uint32(length)})
	return len(group.pages), plain, nil
}

// placePacked takes the memory of the statuses of pages with compression, and uploads the words of the pages, which have
// their places in the input, with it.
func (p *planner) placePacked() {
	for kind, group := range p.packed {
		words := address.BytesOf(group.pages)
		group.words = p.spaces.input.take(uint64(len(words)))
		p.sources = append(p.sources, memory.Source{Offset: group.words.offset(), Data: words})
		group.status = p.spaces.plain.take(4 * uint64(len(group.pages)))
		for i := range p.pages {
			if d := &p.pages[i]; d.packed != 0 && p.origins[i].codec == kind {
				d.packed = group.status + 4*(d.packed-1)
			}
		}
	}
	p.spaces.plain.take(behind)
}

// aheadShare is the part, as a divisor, of the memory which is free that pages may take when they are copied.
const aheadShare = 4

// ahead decompresses the pages on a stream of their own, if there is plenty of memory. Otherwise Decode does it.
func (b *Batch) ahead(ctx context.Context) error {
	stream := b.options.DecompressStream
	if stream == nil || len(b.packed) == 0 {
		return nil
	}
	call, err := op.Begin(ctx, kernels.Options{Manager: b.manager, Stream: stream})
	if err != nil {
		return err
	}
	call.Spare = true
	if err = b.manager.Check(aheadShare * b.spaces.plain.bytes); err == nil {
		err = b.decompress(&call)
	}
	if errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory) {
		return nil
	}
	return err
}

// decompress allocates the memory of the pages behind their compression, if it is not there, and enqueues the decompression of
// all pages. If it fails, the memory is given back.
func (b *Batch) decompress(call *op.Call) (err error) {
	if b.plain != nil || len(b.packed) == 0 {
		return nil
	}
	block, spaces, err := call.Scratch(b.spaces.plain.bytes)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, block.Release())
		}
	}()
	if err := call.OrderBehind(b.bytes); err != nil {
		return err
	}
	for kind, group := range b.packed {
		if err := b.decompressPages(call, kind, group, spaces[0]); err != nil {
			return err
		}
	}
	if err := errors.Join(b.bytes.RecordUse(call.Stream), block.RecordUse(call.Stream)); err != nil {
		return err
	}
	b.plain, b.spaces.plain.base = block, uint64(spaces[0].Pointer())
	return nil
}

// decompressPages enqueues the decompression of the pages of a codec.
func (b *Batch) decompressPages(call *op.Call, kind decompress.Codec, group *packed, output memory.Slice[uint8]) error {
	n := uint64(len(group.pages))
	words, err := part(b.input, group.words, n*decompress.PageWords*8)
	if err != nil {
		return err
	}
	statuses, err := part(output, group.status, 4*n)
	if err != nil {
		return err
	}
	batch := decompress.Batch{Size: decompress.Measure(group.pages), Input: b.input, Output: output}
	if batch.Pages, err = memory.Reinterpret[uint64](words); err != nil {
		return err
	}
	if batch.Status, err = memory.Reinterpret[uint32](statuses); err != nil {
		return err
	}
	return decompress.Launch(call, kind, batch)
}
