package packed

import (
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// BlocksOf returns the packed blocks of words, by the number of the words.
func BlocksOf(p spill.Packing, at device.Pointer) map[int][][]byte {
	words := p.(*wordPacking)
	blocks := map[int][][]byte{}
	for i := range words.blocks {
		b := &words.blocks[i]
		blocks[b.words] = append(blocks[b.words], address.Bytes(at+device.Pointer(b.at), uint64(b.length)))
	}
	return blocks
}
