package dlpack

import (
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/memory"
)

// recommendedAlignment is the alignment that DLPack recommends for a tensor's
// address. The rest goes into byte_offset.
const recommendedAlignment = 256

// alignTo moves a part of the address into the offset, unless the aligned address
// would lie outside the block.
func alignTo(block *memory.Block, t *cabi.Tensor) {
	rest := t.Data % recommendedAlignment
	if uint64(rest) <= uint64(t.Data)-uint64(block.Pointer()) {
		t.Data -= rest
		t.ByteOffset += uint64(rest)
	}
}

// checkAligned refuses elements that are not aligned to their width: a consumer's
// kernel that reads one destroys the context for the whole process.
func checkAligned(t cabi.Tensor) error {
	if width := uintptr(t.DataType.Bits) / 8; t.Data&(width-1) != 0 {
		return faulty("column", "its values begin at %#x, expected an address aligned to %d bytes: copy the column first: %w",
			t.Data, width, ErrUnsupported)
	}
	return nil
}
