package staging

import "sync/atomic"

// lot is a range of a sequence that one chunk carries. Several workers may fill it.
type lot struct {
	position, bytes uint64
	// opened is closed when chunk is set.
	opened chan struct{}
	chunk  atomic.Pointer[chunk]
	// left counts the portions that are not filled yet. end is the number of portions in this
	// lot and in those before it.
	left atomic.Int64
	end  int64
}

// portion is the range of a lot that one worker fills at a time.
type portion struct {
	lot           *lot
	offset, bytes uint64
}

const (
	// smallestLot is the least length of a lot: each copy costs as much as 128 KiB on
	// the link.
	smallestLot = 256 << 10
	// smallestPortion is the least length worth handing to another worker. largestPortion
	// lets the workers end at nearly the same time.
	smallestPortion = 32 << 10
	largestPortion  = 512 << 10
)

// cut divides a sequence into lots of at most the given length.
func cut(total, bytes uint64) []lot {
	lots := make([]lot, count(total, bytes))
	for i := range lots {
		l := &lots[i]
		l.position = uint64(i) * bytes
		l.bytes, l.opened = min(bytes, total-l.position), make(chan struct{})
	}
	return lots
}

// count returns the number of steps in the given number of bytes.
func count(bytes, step uint64) int { return int((bytes + step - 1) / step) }

// uploadLot returns the length of the lots of an upload. Long uploads use whole chunks,
// which keeps the link busy. Short uploads use thirds, so that the device copies the
// first lot while the workers fill the next.
func uploadLot(total, chunkBytes uint64) uint64 {
	return min(max(roundUp(total/3, smallestPortion), smallestLot), chunkBytes)
}

// downloadLot returns the length of the lots of a download, chosen so that every worker
// gets several.
func downloadLot(total, chunkBytes uint64, workers int) uint64 {
	return min(max(roundUp(total/uint64(2*workers), smallestPortion), smallestLot), chunkBytes)
}

// portionBytes returns the length of the portions for the given number of workers. Each
// worker gets about three, so that a late worker delays the others only briefly.
func portionBytes(total uint64, workers int) uint64 {
	if workers == 1 {
		return largestPortion
	}
	return min(max(roundUp(total/uint64(3*workers), smallestPortion), smallestPortion), largestPortion)
}

// divide splits lots into portions, in the order of the lots.
func divide(lots []lot, total, step uint64) []portion {
	portions := make([]portion, 0, int(total/step)+len(lots))
	for i := range lots {
		l := &lots[i]
		for offset := uint64(0); offset < l.bytes; offset += step {
			portions = append(portions, portion{lot: l, offset: offset, bytes: min(step, l.bytes-offset)})
			l.left.Add(1)
		}
		l.end = int64(len(portions))
	}
	return portions
}
