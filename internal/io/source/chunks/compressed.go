package chunks

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/io/decompress"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/op"
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
	pages []decompress.Page // Source and Target are offsets in the spaces input and work
	// status is the place of the status of the first page, and words that of the pages.
	status, words place
}

// decompressed plans the decompression of a page behind its levels, and returns the place of its bytes.
func (p *planner) decompressed(h pages.Page, body place, c parquetformat.Codec) (number int, plain place, err error) {
	known := codecs[c]
	compressed, length := h.Compressed-h.Levels, h.Uncompressed-h.Levels
	if int64(length) > known.most*int64(compressed)+64 {
		return 0, 0, fmt.Errorf("the page has %d bytes by its header, and %d with compression: %w", length, compressed, pages.ErrDamaged)
	}
	plain = p.spaces.work.take(uint64(length))
	group := p.packed[known.Codec]
	if group == nil {
		group = &packed{}
		p.packed[known.Codec] = group
	}
	group.pages = append(group.pages, decompress.Page{Source: body.offset(), Target: plain.offset(), Compressed: uint32(compressed), Length: uint32(length)})
	return len(group.pages), plain, nil
}

// placePacked takes the memory of the pages with compression and sets the places of their statuses.
func (p *planner) placePacked() {
	for kind, group := range p.packed {
		group.status = p.spaces.work.take(4 * uint64(len(group.pages)))
		group.words = p.upload(address.BytesOf(group.pages))
		for i := range p.pages {
			if d := &p.pages[i]; d.packed != 0 && p.origins[i].codec == kind {
				d.packed = group.status + 4*(d.packed-1)
			}
		}
	}
}

// decompress enqueues the decompression of all pages.
func (b *Batch) decompress(call *op.Call) error {
	for kind, group := range b.packed {
		n := uint64(len(group.pages))
		words, err := part(b.lists, group.words, n*decompress.PageWords*8)
		if err != nil {
			return err
		}
		statuses, err := part(b.work, group.status, 4*n)
		if err != nil {
			return err
		}
		batch := decompress.Batch{Size: decompress.Measure(group.pages), Input: b.input, Output: b.work}
		if batch.Pages, err = memory.Reinterpret[uint64](words); err != nil {
			return err
		}
		if batch.Status, err = memory.Reinterpret[uint32](statuses); err != nil {
			return err
		}
		if err := decompress.Launch(call, kind, batch); err != nil {
			return err
		}
	}
	return nil
}
