package dlpack

import (
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/bitmap"
	"github.com/gpuframe/gpuframe/memory"
)

// tag is the tag of the memory that this package allocates.
const tag = "dlpack"

// expandedBools makes a byte of each bit, on the stream of the bits' memory. count is
// at least one. The result holds a reference.
func expandedBools(bits column.Bytes, first, count int) (column.Bytes, error) {
	source := bits.Block()
	stream := source.WorkStream()
	bytes, err := memory.NewSlice[uint8](source.Manager(), count, memory.AllocateOptions{Stream: stream, Tag: tag})
	if err != nil {
		return column.Bytes{}, faulty("column", "expand bits to bytes: %w", err)
	}
	if err := expandInto(bytes, bits, first, count); err != nil {
		return column.Bytes{}, also(faulty("column", "expand bits to bytes: %w", err), bytes.Release())
	}
	return bytes, nil
}

// expandInto enqueues the expansion on the stream of the bytes.
func expandInto(bytes, bits column.Bytes, first, count int) error {
	stream := bytes.Block().Stream()
	if err := bits.Block().OrderBefore(stream); err != nil {
		return err
	}
	return bitmap.Expand(stream, bytes, bits, first, count)
}

// packedBools makes a bit of each byte, on the manager's stream. The result holds a
// reference; its contents may not be ready: see taken.awaitPacked.
func packedBools(m *memory.Manager, bytes column.Bytes) (column.Bytes, error) {
	const padding = 64 // Arrow's padding of buffers
	n := bytes.Len()
	padded := (n/8 + padding) &^ (padding - 1)
	bits, err := memory.NewSlice[uint8](m, padded, memory.AllocateOptions{Tag: tag})
	if err != nil {
		return column.Bytes{}, err
	}
	if err := packInto(bits, bytes); err != nil {
		return column.Bytes{}, also(err, bits.Release())
	}
	return bits, nil
}

func packInto(bits, bytes column.Bytes) error {
	stream := bits.Block().Stream()
	if err := bits.Fill(stream, 0); err != nil {
		return err
	}
	if err := bytes.Block().OrderBefore(stream); err != nil {
		return err
	}
	return bitmap.Pack(stream, bits, bytes, bytes.Len())
}
