package window

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

// hostFold folds values on the host.
type hostFold struct {
	*arrangement
	hostRows
	frame  hostFrame
	values hostValues
	// factors are those of foldLinear, by row.
	factors []uint64
	by      folding
	to      writing
	out     op.HostBuffers
	// valid is the bitmap of the result in words, which goroutines share.
	valid []uint32
}

func (a *arrangement) foldOnHost(f Function, in op.View, by folding, to writing, frame *framing, cumulative bool, out op.Buffers) error {
	h := &hostFold{arrangement: a, by: by, to: to}
	var errs [4]error
	h.hostRows, errs[0] = a.host()
	h.frame, errs[1] = frame.host()
	h.values, errs[2] = newHostValues(in, by.format)
	h.out, errs[3] = out.Host()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	clear(h.out.Values)
	h.valid = op.Elements[uint32](h.out.Valid)
	switch {
	case f.kind == quantileOf:
		return h.quantiles(f.fraction)
	case cumulative:
		return h.scan()
	}
	return h.roll(int(frame.longest))
}

// write writes the value of a state.
func (h *hostFold) write(place int, s state) {
	if value, ok := h.to.value(h.by, s); ok {
		h.store(h.row(place), value)
	}
}

func (h *hostFold) store(row int, value uint64) {
	switch h.to.bytes {
	case 1:
		h.out.Values[row] = uint8(value)
	case 2:
		*(*uint16)(unsafe.Pointer(&h.out.Values[2*row])) = uint16(value)
	case 4:
		*(*uint32)(unsafe.Pointer(&h.out.Values[4*row])) = uint32(value)
	default:
		*(*uint64)(unsafe.Pointer(&h.out.Values[8*row])) = value
	}
	if h.valid != nil {
		// The rows of a part share words with those of others.
		bit := [4]byte{}
		bit[row%32/8] = 1 << (row % 8)
		atomic.OrUint32(&h.valid[row/32], *(*uint32)(unsafe.Pointer(&bit)))
	}
}

// tiles runs f for each tile of rows, concurrently.
func (h *hostFold) tiles(rows int, f func(tile int)) error {
	count := tilesOf(h.n, rows)
	parts := min(parallel.Parts(h.n), max(count, 1))
	return parallel.Run(h.ctx, 64*count, parts, func(_, begin, end int) {
		for tile := begin / 64; tile < end/64; tile++ {
			f(tile)
		}
	})
}

const (
	scanThreads = overThreads
	scanLoads   = scanRows / scanThreads
	lanes       = 32
)

// scan folds the rows of each partition up to each row, in the order of the kernels.
func (h *hostFold) scan() error {
	count := tilesOf(h.n, scanRows)
	folds := make([]state, count)
	err := h.tiles(scanRows, func(tile int) {
		var threads [scanThreads]state
		h.threads(tile, &threads)
		folds[tile] = h.before(&threads)
	})
	if err != nil {
		return err
	}
	carried := state{}
	for begin := 0; begin < count && count > 1; begin += scanThreads {
		var threads [scanThreads]state
		batch := folds[begin:min(begin+scanThreads, count)]
		copy(threads[:], batch)
		total := h.before(&threads)
		for i := range batch {
			batch[i] = h.by.foldHeads(carried, threads[i])
		}
		carried = h.by.foldHeads(carried, total)
	}
	return h.tiles(scanRows, func(tile int) {
		var threads [scanThreads]state
		h.threads(tile, &threads)
		h.before(&threads)
		for thread, s := range threads {
			if count > 1 {
				s = h.by.foldHeads(folds[tile], s)
			}
			first := tile*scanRows + thread*scanLoads
			for place := first; place < min(first+scanLoads, h.n); place++ {
				s = h.by.foldHeads(s, h.at(place))
				h.write(place, s)
			}
		}
	})
}

// at returns the state of a place.
func (h *hostFold) at(place int) state {
	row := h.row(place)
	s := h.values.state(h.by, row)
	if h.factors != nil {
		s.b = h.factors[row]
	}
	s.head = h.isHead(place)
	return s
}

// threads folds the rows of each thread of a tile.
func (h *hostFold) threads(tile int, threads *[scanThreads]state) {
	for thread := range threads {
		s := state{}
		first := tile*scanRows + thread*scanLoads
		for place := first; place < min(first+scanLoads, h.n); place++ {
			s = h.by.foldHeads(s, h.at(place))
		}
		threads[thread] = s
	}
}

// before replaces the states of threads by the fold of those before each, and returns that
// of all: over_scan's before_thread.
func (h *hostFold) before(threads *[scanThreads]state) state {
	all := state{}
	for first := 0; first < scanThreads; first += lanes {
		warp := threads[first : first+lanes]
		for delta := 1; delta < lanes; delta *= 2 {
			for lane := lanes - 1; lane >= delta; lane-- {
				warp[lane] = h.by.foldHeads(warp[lane-delta], warp[lane])
			}
		}
		total := warp[lanes-1]
		for lane := lanes - 1; lane > 0; lane-- {
			warp[lane] = h.by.foldHeads(all, warp[lane-1])
		}
		warp[0] = h.by.foldHeads(all, state{})
		all = h.by.foldHeads(all, total)
	}
	return all
}

// rolledRows is the least number of rows with frames that are folded together.
const rolledRows = 1 << 12

// roll folds the frames in runs of powers of two: see over_roll.
func (h *hostFold) roll(longest int) error {
	// Longer parts share the runs between them.
	rows := max(rolledRows, min(4*longest, h.n))
	return h.tiles(rows, func(tile int) {
		begin, end := tile*rows, min((tile+1)*rows, h.n)
		low, high := end, begin
		for place := begin; place < end; place++ {
			first, last := h.frame.bounds(&h.hostRows, place)
			if first < last {
				low, high = min(low, first), max(high, last)
			}
		}
		runs := make([]state, max(high-low, 0))
		for i := range runs {
			runs[i] = h.values.state(h.by, h.row(low+i))
		}
		results := make([]state, end-begin)
		for size := 1; size <= longest; size *= 2 {
			for i := range results {
				first, last := h.frame.bounds(&h.hostRows, begin+i)
				if length := last - first; length&size != 0 {
					results[i] = h.by.foldOf(results[i], runs[first+length&(size-1)-low])
				}
			}
			for i := 0; i+size < len(runs); i++ {
				runs[i] = h.by.foldOf(runs[i], runs[i+size])
			}
			if size > math.MaxInt/2 {
				break
			}
		}
		for i, s := range results {
			h.write(begin+i, s)
		}
	})
}

// quantiles sorts the values of each frame.
func (h *hostFold) quantiles(q float64) error {
	return h.tiles(rolledRows, func(tile int) {
		var sorted []float64
		for place := tile * rolledRows; place < min((tile+1)*rolledRows, h.n); place++ {
			first, end := h.frame.bounds(&h.hostRows, place)
			sorted = sorted[:0]
			for i := first; i < end; i++ {
				if row := h.row(i); h.values.IsValid(row) {
					sorted = append(sorted, asReal(h.values.words(row), h.by.format))
				}
			}
			if n := len(sorted); n > 0 && uint64(n) >= h.to.least {
				slices.SortFunc(sorted, compareFloats)
				at := float64(q * float64(n-1))
				below := int(at)
				x, part := sorted[below], at-float64(below)
				if part > 0 {
					x = aggregate.Interpolate(x, sorted[below+1], part)
				}
				h.store(h.row(place), math.Float64bits(x))
			}
		}
	})
}

// compareFloats orders −0 before 0 and NaN after all numbers.
func compareFloats(x, y float64) int {
	a, b := quantileKey(x), quantileKey(y)
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func quantileKey(x float64) uint64 {
	if x != x {
		return math.MaxUint64
	}
	key := math.Float64bits(x)
	return key ^ (uint64(int64(key)>>63) | 1<<63)
}

// rangesOnHost finds the frames of a range: see over_ranges.
func (a *arrangement) rangesOnHost(by ranging, f *framing) error {
	h, err := a.host()
	values, valuesErr := newHostValues(by.key, by.format)
	lows, lowsErr := f.lows.Host()
	highs, highsErr := f.highs.Host()
	if err := errors.Join(err, valuesErr, lowsErr, highsErr); err != nil {
		return err
	}
	r := hostRanges{offsets: by.offsets, hostRows: h, values: values}
	for i, bounds := range []op.View{by.lows, by.highs} {
		if bounds.Column == nil {
			continue
		}
		each, err := newHostValues(bounds, by.format)
		if err != nil {
			return err
		}
		r.ends[i] = &each
	}
	count := parallel.Parts(h.n)
	extents := make([][3]int, count)
	err = parallel.Run(a.ctx, h.n, count, func(part, begin, end int) {
		for place := begin; place < end; place++ {
			low, high := r.bounds(place)
			lows[place], highs[place] = uint32(low), uint32(high)
			e := &extents[part]
			*e = [3]int{max(e[0], place-low), max(e[1], high-place-1), max(e[2], high-low)}
		}
	})
	for _, e := range extents {
		f.before, f.after, f.longest = max(f.before, int64(e[0])), max(f.after, int64(e[1])), max(f.longest, int64(e[2]))
	}
	return err
}

// hostRanges finds the frames of ranges on the host.
type hostRanges struct {
	offsets
	hostRows
	values hostValues
	// ends are the bounds of each row, low and high, or nil.
	ends [2]*hostValues
}

// bounds returns the places of the frame of a place.
func (r *hostRanges) bounds(place int) (low, high int) {
	begin, end := r.hostRows.bounds(place)
	row := r.row(place)
	if !r.isNumber(row) {
		low, high = r.peersOf(place)
		if r.noLow {
			low = begin
		}
		if r.noHigh {
			high = end
		}
		return low, high
	}
	if low = begin; !r.noLow {
		low = r.search(begin, end, row, false)
	}
	if high = end; !r.noHigh {
		high = r.search(low, end, row, true)
	}
	return low, high
}

// search returns the first place in [begin, end) that is not before the frame of a row or,
// with above, is after it.
func (r *hostRanges) search(begin, end, row int, above bool) int {
	for begin < end {
		middle := begin + (end-begin)/2
		if r.before(r.row(middle), row, above) {
			begin = middle + 1
		} else {
			end = middle
		}
	}
	return begin
}

func (r *hostRanges) isNumber(row int) bool {
	if !r.values.IsValid(row) {
		return false
	}
	x := asReal(r.values.words(row), r.format)
	return r.format.Class != numbers.Float || x == x
}

func (r *hostRanges) before(element, row int, above bool) bool {
	if !r.values.IsValid(element) {
		return r.nullsUp
	}
	offset, end := r.low, 0
	if above {
		offset, end = r.high, 1
	}
	if bounds := r.ends[end]; bounds != nil {
		return r.beforeBound(bounds, element, row, end)
	}
	if r.format.Class == numbers.Float {
		return r.beforeFloat(asReal(r.values.words(element), r.format), asReal(r.values.words(row), r.format), math.Float64frombits(offset), above)
	}
	x, y := asInteger(r.values.words(element), r.format), asInteger(r.values.words(row), r.format)
	if r.descending {
		x, y = y, x
	}
	less := x < y
	if r.format.Class == numbers.Signed {
		less = int64(x) < int64(y)
	}
	// x − y as a sign and a magnitude, which do not overflow.
	bound := int64(offset)
	switch {
	case less && bound >= 0:
		return true
	case less && above:
		return y-x >= -uint64(bound)
	case less:
		return y-x > -uint64(bound)
	case bound < 0:
		return false
	case above:
		return x-y <= uint64(bound)
	}
	return x-y < uint64(bound)
}

// beforeBound is before with the bounds of each row.
func (r *hostRanges) beforeBound(bounds *hostValues, element, row, end int) bool {
	if !bounds.IsValid(row) {
		return r.behind()>>end&1 != 0
	}
	x, bound := int64(asInteger(r.values.words(element), r.format)), int64(asInteger(bounds.words(row), r.format))
	if r.descending {
		x, bound = bound, x
	}
	return x < bound || end == 1 && x == bound
}

func (r *hostRanges) beforeFloat(x, y, offset float64, above bool) bool {
	if x != x {
		return r.descending
	}
	switch {
	case r.descending && above:
		return x >= y-offset
	case r.descending:
		return x > y-offset
	case above:
		return x <= y+offset
	}
	return x < y+offset
}
