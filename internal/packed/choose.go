package packed

// tileWriter chooses the form of tiles and writes their codes.
type tileWriter struct {
	codes []uint64
	// words are the data of the block.
	words []uint64
}

// gain is the part of the codes, as a divisor, that another form than offsets saves at least: it costs the kernels a
// scan.
const gain = 8

// write packs the values of a tile, which has at least one row.
func (w *tileWriter) write(values []int64, low, high int64) (t tile) {
	t = tile{reference: uint64(low), validity: none, exponent: asBits, data: uint32(8 * len(w.words))}
	span := uint64(high) - uint64(low)
	if span == 0 {
		return t
	}
	t.factor = commonFactor(values, low, span)
	t.width = widthOf(span / t.factor)
	bits := len(values) * int(t.width)
	bits -= bits/gain + 1
	marked := 64*runWords + countRuns(values)*int(t.width)
	least, width := deltaWidth(values, span)
	switch steps := len(values) * int(width); {
	case steps < bits && steps <= marked:
		t.form, t.width, t.reference, t.factor = deltas, width, uint64(values[0])-least, least
		w.writeDeltas(values, &t)
	case marked < bits:
		t.form = runs
		w.writeRuns(values, &t)
	default:
		w.writeOffsets(values, span, &t)
	}
	return t
}

func (w *tileWriter) writeOffsets(values []int64, span uint64, t *tile) {
	w.codes = w.codes[:0]
	switch {
	case t.factor == 1:
		for _, v := range values {
			w.codes = append(w.codes, uint64(v)-t.reference)
		}
	case span < 1<<32: // a division of 32 bits takes a fraction of the time
		for _, v := range values {
			w.codes = append(w.codes, uint64(uint32(uint64(v)-t.reference)/uint32(t.factor)))
		}
	default:
		for _, v := range values {
			w.codes = append(w.codes, (uint64(v)-t.reference)/t.factor)
		}
	}
	w.words = appendCodes(w.words, w.codes, t.width)
}

func (w *tileWriter) writeDeltas(values []int64, t *tile) {
	w.codes = w.codes[:0]
	before := t.reference
	for _, v := range values {
		w.codes = append(w.codes, uint64(v)-before-t.factor)
		before = uint64(v)
	}
	w.words = appendCodes(w.words, w.codes, t.width)
}

// writeRuns writes the first values of runs.
func (w *tileWriter) writeRuns(values []int64, t *tile) {
	var marks [runWords]uint64
	w.codes = w.codes[:0]
	for i, v := range values {
		if i == 0 || v != values[i-1] {
			marks[i/64] |= 1 << (i % 64)
			w.codes = append(w.codes, (uint64(v)-t.reference)/t.factor)
		}
	}
	w.words = appendCodes(append(w.words, marks[:]...), w.codes, t.width)
}

// commonFactor returns the greatest number of which all differences to the least value are multiples.
func commonFactor(values []int64, low int64, span uint64) uint64 {
	if span < 1<<32 {
		factor := uint32(span)
		for _, v := range values {
			if d := uint32(uint64(v) - uint64(low)); d%factor != 0 {
				if factor = uint32(divisor(uint64(factor), uint64(d%factor))); factor == 1 {
					break
				}
			}
		}
		return uint64(factor)
	}
	factor := span
	for _, v := range values {
		if d := uint64(v) - uint64(low); d%factor != 0 {
			if factor = divisor(factor, d%factor); factor == 1 {
				break
			}
		}
	}
	return factor
}

// divisor returns the greatest common divisor.
func divisor(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// deltaWidth returns the least difference of neighbours and the width of the others above it. Differences of values in
// a span may not overflow.
func deltaWidth(values []int64, span uint64) (least uint64, width uint8) {
	if len(values) < 2 || span >= 1<<62 {
		return 0, 64
	}
	low, high := values[1]-values[0], values[1]-values[0]
	for i := 1; i < len(values); i++ {
		d := values[i] - values[i-1]
		low, high = min(low, d), max(high, d)
	}
	return uint64(low), widthOf(uint64(high) - uint64(low))
}

// countRuns returns the number of runs of equal values.
func countRuns(values []int64) int {
	count := 1
	for i := 1; i < len(values); i++ {
		if values[i] != values[i-1] {
			count++
		}
	}
	return count
}
