package staging

import "github.com/gpuframe/gpuframe/device"

// plan says how each stretch of a transfer travels.
type plan struct {
	// staged goes through chunks, inPlace is reached by the processor.
	staged, inPlace sequence
	// direct are the pieces that the device copies from or to where they lie.
	direct []directCopy
	// blank are the gaps that the device fills in an upload.
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
	// smallestDirect is the length from which a pinned piece travels by a
	// transfer of its own. To gather smaller ones with their neighbours is
	// quicker, and to ask the driver what they are would cost more than it saves.
	smallestDirect = 256 << 10
	// smallestBlank is the length from which the device fills a gap. To send a
	// shorter one along takes less time than another call.
	smallestBlank = 128 << 10
)

// makePlan plans a transfer. The given function reports whether memory is pinned.
func makePlan(spans []Span, pinned func(data []byte) bool) *plan {
	p := new(plan)
	for i := range spans {
		s := &spans[i]
		switch {
		case s.Bytes == 0:
		case s.InPlace:
			p.inPlace.expect(len(spans) - i)
			p.inPlace.add(run{base: s.Base, to: s.Bytes, pieces: s.Pieces, pad: s.Pad})
		default:
			p.staged.expect(len(spans) - i)
			p.split(s, pinned)
		}
	}
	return p
}

// split takes wide gaps and pinned pieces out of a span. What is left are the
// runs between them, which keep the narrow gaps.
func (p *plan) split(s *Span, pinned func(data []byte) bool) {
	var begin, end uint64 // of the run, up to the last of its pieces
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

// stage adds a run. Where it holds no piece it is but a gap.
func (p *plan) stage(s *Span, from, to uint64, pieces []Piece) {
	if len(pieces) == 0 {
		p.leave(s, from, to)
		return
	}
	p.staged.add(run{base: s.Base, from: from, to: to, pieces: pieces, pad: s.Pad})
}

func (p *plan) leave(s *Span, from, to uint64) {
	if to > from {
		p.blank = append(p.blank, blankFill{at: s.Base.Add(from), bytes: to - from, value: s.Pad})
	}
}
