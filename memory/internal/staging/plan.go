package staging

import "github.com/gpuframe/gpuframe/device"

// plan assigns a transfer method to each part of a transfer.
type plan struct {
	// staged is transferred through chunks; inPlace is accessed by the processor.
	staged, inPlace sequence
	// direct are the pieces that the device copies without staging.
	direct []directCopy
	// blank are the gaps of an upload that the device fills.
	blank []blankFill
}

type directCopy struct {
	at   device.Pointer
	data []byte
}

type blankFill struct {
	at    device.Pointer
	bytes uint64
	value byte
}

const (
	// smallestDirect is the least length of a pinned piece that is transferred
	// directly. Staging shorter pieces with their neighbours is faster, and querying
	// the driver for their memory kind would cost more than it saves.
	smallestDirect = 256 << 10
	// smallestBlank is the least length of a gap that the device fills. Transferring a
	// shorter gap takes less time than another driver call.
	smallestBlank = 128 << 10
)

// makePlan plans a transfer. The function pinned reports whether memory is pinned.
func makePlan(spans []Span, pinned func(data []byte) bool) *plan {
	p := new(plan)
	for i := range spans {
		s := &spans[i]
		switch {
		case s.Bytes == 0:
		case s.InPlace:
			p.inPlace.expect(len(spans) - i)
			p.inPlace.add(section{base: s.Base, to: s.Bytes, pieces: s.Pieces, pad: s.Pad})
		default:
			p.staged.expect(len(spans) - i)
			p.split(s, pinned)
		}
	}
	return p
}

// split removes wide gaps and pinned pieces from a span. The remaining sections are staged,
// including their narrow gaps.
func (p *plan) split(s *Span, pinned func(data []byte) bool) {
	var begin, end uint64 // of the section, up to the last of its pieces
	first := 0            // of its pieces
	for i := range s.Pieces {
		piece := &s.Pieces[i]
		if piece.Offset-end >= smallestBlank {
			p.stage(s, begin, end, s.Pieces[first:i])
			p.leave(s, end, piece.Offset)
			begin, first = piece.Offset, i
		}
		if piece.Bytes >= smallestDirect && piece.Fill == nil && pinned(piece.Data) {
			p.stage(s, begin, piece.Offset, s.Pieces[first:i])
			p.direct = append(p.direct, directCopy{at: s.Base.Add(piece.Offset), data: piece.Data})
			begin, first = piece.end(), i+1
		}
		end = piece.end()
	}
	if s.Bytes-end < smallestBlank {
		end = s.Bytes
	}
	p.stage(s, begin, end, s.Pieces[first:])
	p.leave(s, end, s.Bytes)
}

// stage adds a section, or a gap if the section has no pieces.
func (p *plan) stage(s *Span, from, to uint64, pieces []Piece) {
	if len(pieces) == 0 {
		p.leave(s, from, to)
		return
	}
	p.staged.add(section{base: s.Base, from: from, to: to, pieces: pieces, pad: s.Pad})
}

func (p *plan) leave(s *Span, from, to uint64) {
	if to > from {
		p.blank = append(p.blank, blankFill{at: s.Base.Add(from), bytes: to - from, value: s.Pad})
	}
}
