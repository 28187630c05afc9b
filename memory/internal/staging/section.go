package staging

import (
	"sort"

	"github.com/gpuframe/gpuframe/device"
)

// section is a range of a span that is transferred together.
type section struct {
	// base is the address of the span. All offsets are relative to it.
	base     device.Pointer
	from, to uint64
	pieces   []Piece
	pad      byte
	// start is the position of the section in its sequence.
	start uint64
}

func (s *section) end() uint64 { return s.start + s.to - s.from }

// first returns the index of the first piece that ends after the offset.
func (s *section) first(offset uint64) int {
	return sort.Search(len(s.pieces), func(i int) bool { return s.pieces[i].end() > offset })
}

// gather writes the section's bytes, starting at offset, into destination. It calls move to
// copy the pieces that have Data, calls Fill for the others, and pads the gaps.
func (s *section) gather(destination []byte, offset uint64, move func(destination, source []byte) int) {
	end := offset + uint64(len(destination))
	at := offset
	for i := s.first(offset); i < len(s.pieces) && s.pieces[i].Offset < end; i++ {
		p := &s.pieces[i]
		from, to := max(p.Offset, offset), min(p.end(), end)
		pad(destination[at-offset:from-offset], s.pad)
		if p.Fill != nil {
			p.Fill(destination[from-offset:to-offset], from-p.Offset)
		} else {
			move(destination[from-offset:to-offset], p.Data[from-p.Offset:to-p.Offset])
		}
		at = to
	}
	pad(destination[at-offset:], s.pad)
}

// scatter copies the section's bytes, starting at offset, from source to the pieces.
func (s *section) scatter(source []byte, offset uint64) {
	end := offset + uint64(len(source))
	for i := s.first(offset); i < len(s.pieces) && s.pieces[i].Offset < end; i++ {
		p := &s.pieces[i]
		from, to := max(p.Offset, offset), min(p.end(), end)
		copy(p.Data[from-p.Offset:to-p.Offset], source[from-offset:to-offset])
	}
}

func pad(destination []byte, value byte) {
	if value == 0 {
		clear(destination)
		return
	}
	for i := range destination {
		destination[i] = value
	}
}

// through copies through the caches. It serves memory that the processor itself will
// read, and transfers so long that their data leaves the caches before the device reads
// it.
func through(destination, source []byte) int { return copy(destination, source) }
