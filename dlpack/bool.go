package dlpack

import (
	"context"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/bitmap"
	"github.com/gpuframe/gpuframe/memory"
)

// tag names the memory that this package allocates.
const tag = "dlpack"

// expandedBools makes a byte of each bit, on the stream that the column's memory
// belongs to. A copy holds a reference.
func expandedBools(c *column.Column) (contents, error) {
	bits := c.Buffer(1)
	if c.Len() == 0 {
		none, err := bits.Slice(0, 0)
		return contents{region: none, dataType: boolType}, err
	}
	source := bits.Block()
	stream := source.Stream()
	bytes, err := memory.NewSlice[uint8](source.Manager(), c.Len(), memory.AllocateOptions{Stream: stream, Tag: tag})
	if err != nil {
		return contents{}, faulty("column", "expand bits to bytes: %w", err)
	}
	err = source.OrderBefore(stream)
	if err == nil {
		err = bitmap.Expand(stream, bytes, bits, c.Offset(), c.Len())
	}
	if err != nil {
		return contents{}, also(faulty("column", "expand bits to bytes: %w", err), bytes.Release())
	}
	return contents{region: bytes, length: c.Len(), dataType: boolType, copied: true}, nil
}

// packedBools makes a bit of each byte, on the manager's stream, and waits until
// the bytes have been read. The result holds a reference.
func packedBools(ctx context.Context, m *memory.Manager, bytes column.Bytes) (column.Bytes, error) {
	const padding = 64 // what Arrow asks of a buffer's length
	n := bytes.Len()
	padded := (n/8 + padding) &^ (padding - 1)
	bits, err := memory.NewSlice[uint8](m, padded, memory.AllocateOptions{Tag: tag})
	if err != nil {
		return column.Bytes{}, err
	}
	if err := packInto(ctx, bits, bytes); err != nil {
		return column.Bytes{}, also(err, bits.Release())
	}
	return bits, nil
}

func packInto(ctx context.Context, bits, bytes column.Bytes) error {
	stream := bits.Block().Stream()
	if err := bits.Fill(stream, 0); err != nil {
		return err
	}
	if err := bytes.Block().OrderBefore(stream); err != nil {
		return err
	}
	if err := bitmap.Pack(stream, bits, bytes, bytes.Len()); err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	return bits.Block().Synchronize(ctx)
}
