package spill

import (
	"context"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Packer writes memory of a device to host memory in fewer bytes than it has: package internal/packed has one. It
// allocates no memory of the device.
type Packer interface {
	// Measure finds how many bytes words take packed. allocate allocates host memory that the device can access, which
	// Measure releases. No other work on the words is pending when the stream runs.
	Measure(ctx context.Context, stream *device.Stream, words []Words, allocate func(bytes uint64) (*memory.Block, error)) (Packing, error)
}

// Words is memory of a device as words of one length, whatever they mean.
type Words struct {
	Pointer device.Pointer
	Bytes   uint64
	// Width is the length of a word: 1, 2, 4, 8 or 16 bytes. Pointer and Bytes are multiples of it.
	Width int
}

// Packing is how words are packed. All its methods wait for the device.
type Packing interface {
	// Packs reports whether words, by their number, are packed. Others take about as many bytes packed as they have.
	Packs(number int) bool
	// Divide returns pieces of up to a number of bytes, of two MiB or more, each of which is packed and unpacked alone.
	Divide(most uint64) []Packing
	// Bytes is the length of the packed words.
	Bytes() uint64
	// Pack writes the words that were measured to host memory that the device can access.
	Pack(ctx context.Context, stream *device.Stream, to device.Pointer) error
	// Unpack writes the words to memory of a device, at a pointer for each of them. That of words which are not packed
	// is not used.
	Unpack(ctx context.Context, stream *device.Stream, from device.Pointer, to []device.Pointer) error
	// UnpackOnHost writes the words to host memory.
	UnpackOnHost(ctx context.Context, from device.Pointer, to [][]byte) error
}
