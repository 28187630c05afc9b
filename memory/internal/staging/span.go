package staging

import "github.com/gpuframe/gpuframe/device"

// Span is a run of memory on the device and the pieces of host memory that belong
// to it.
type Span struct {
	// Base is where the span begins and Bytes how long it is.
	Base  device.Pointer
	Bytes uint64
	// InPlace says that the processor can reach the memory.
	InPlace bool
	// Pieces lie inside the span, in ascending order, and do not overlap.
	Pieces []Piece
	// Pad is what an upload writes where no piece lies.
	Pad byte
}

// Piece is a part of a span: memory that exists, or a function that makes it.
type Piece struct {
	// Offset is from the beginning of the span.
	Offset, Bytes uint64
	// Data is the host's memory. It is Bytes long.
	Data []byte
	// Fill, in place of Data in an upload, writes the piece's bytes from offset
	// on into destination. It is called from several goroutines at a time.
	Fill func(destination []byte, offset uint64)
}

func (p *Piece) end() uint64 { return p.Offset + p.Bytes }
