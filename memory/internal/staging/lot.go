package staging

import "sync/atomic"

// lot is what one chunk carries: bytes of a sequence from a position on, which
// several workers may fill together.
type lot struct {
	position, bytes uint64
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

// cut divides a sequence into lots of at most so many bytes.
func cut(total, bytes uint64) []lot {
	lots := make([]lot, count(total, bytes))
	for i := range lots {
		l := &lots[i]
		l.position = uint64(i) * bytes
		l.bytes, l.opened = min(bytes, total-l.position), make(chan struct{})
	}
	return lots
}

// count returns how many steps so many bytes take.
func count(bytes, step uint64) int { return int((bytes + step - 1) / step) }

// uploadLot returns how long the lots of an upload are: as long as a chunk where
// there is much, so that the link is kept busy, and a third where there is
// little, so that the device copies the first while the next is filled.
func uploadLot(total, chunkBytes uint64) uint64 {
	return min(max(roundUp(total/3, smallestPart), smallestLot), chunkBytes)
}

// downloadLot returns how long the lots of a download are: so long that every
// worker has some.
func downloadLot(total, chunkBytes uint64, workers int) uint64 {
	return min(max(roundUp(total/uint64(2*workers), smallestPart), smallestLot), chunkBytes)
}

// partBytes returns how long the parts are for so many workers. Each gets three
// of them, so that one who comes late holds nobody up for long.
func partBytes(total uint64, workers int) uint64 {
	if workers == 1 {
		return largestPart
	}
	return min(max(roundUp(total/uint64(3*workers), smallestPart), smallestPart), largestPart)
}

// divide splits lots into parts, in the order of the lots.
func divide(lots []lot, total, step uint64) []part {
	parts := make([]part, 0, int(total/step)+len(lots))
	for i := range lots {
		l := &lots[i]
		for offset := uint64(0); offset < l.bytes; offset += step {
			parts = append(parts, part{lot: l, offset: offset, bytes: min(step, l.bytes-offset)})
			l.left.Add(1)
		}
		l.end = int64(len(parts))
	}
	return parts
}
