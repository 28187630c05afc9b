package memory

import "sync/atomic"

// lot is what the device copies at a time: bytes of a span from an offset on,
// which several workers may fill together.
type lot struct {
	span          *span
	offset, bytes uint64
	// opened is closed when chunk is there.
	opened chan struct{}
	chunk  atomic.Pointer[chunk]
	// left counts the parts that are still to be filled, end the parts of this
	// lot and of those before it.
	left atomic.Int64
	end  int64
}

// part is what one worker fills at a time: bytes of a lot from an offset on.
type part struct {
	lot           *lot
	offset, bytes uint64
}

const (
	// smallestLot is the least that is worth a copy of its own: each costs the
	// link about as much as 128 KiB.
	smallestLot = 256 << 10
	// smallestPart is the least that is worth handing to another worker, and
	// largestPart lets the workers end together.
	smallestPart = 32 << 10
	largestPart  = 512 << 10
)

// cut divides spans into lots of at most so many bytes.
func cut(spans []*span, bytes uint64) []*lot {
	var lots []*lot
	for _, s := range spans {
		for offset := uint64(0); offset < s.bytes; offset += bytes {
			lots = append(lots, &lot{
				span: s, offset: offset, bytes: min(bytes, s.bytes-offset), opened: make(chan struct{}),
			})
		}
	}
	return lots
}

// divide splits lots into parts for so many workers, in the order of the lots.
// Each gets three of them, so that one who comes late holds nobody up for long.
func divide(lots []*lot, workers int) []part {
	var total uint64
	for _, l := range lots {
		total += l.bytes
	}
	step := uint64(largestPart)
	if workers > 1 {
		step = min(max(roundUp(total/uint64(3*workers), smallestPart), smallestPart), largestPart)
	}
	parts := make([]part, 0, int(total/step)+len(lots))
	for _, l := range lots {
		for offset := uint64(0); offset < l.bytes; offset += step {
			parts = append(parts, part{lot: l, offset: offset, bytes: min(step, l.bytes-offset)})
			l.left.Add(1)
		}
		l.end = int64(len(parts))
	}
	return parts
}

// extent returns where in its span the part begins and ends.
func (p part) extent() (from, to uint64) {
	from = p.lot.offset + p.offset
	return from, from + p.bytes
}

// roundUp rounds up to a multiple of a power of two.
func roundUp(value, multiple uint64) uint64 { return (value + multiple - 1) &^ (multiple - 1) }
