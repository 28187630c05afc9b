package staging

import "github.com/gpuframe/gpuframe/device"

// Span is a range of device memory and the pieces of host memory that belong to it.
type Span struct {
	// Base is the address of the span and Bytes its length.
	Base  device.Pointer
	Bytes uint64
	// InPlace reports whether the processor can access the memory.
	InPlace bool
	// Pieces lie inside the span, in ascending order, and do not overlap.
	Pieces []Piece
	// Pad is the byte that an upload writes outside the pieces.
	Pad byte
}

// Piece is a part of a span: host memory, or a function that produces its bytes.
type Piece struct {
	// Offset is relative to the beginning of the span.
	Offset, Bytes uint64
	// Data is the host's memory. It is Bytes long.
	Data []byte
	// Fill replaces Data in an upload. It writes the piece's bytes, starting at offset,
	// into destination. Several goroutines may call it concurrently.
	Fill func(destination []byte, offset uint64)
}

func (p *Piece) end() uint64 { return p.Offset + p.Bytes }
