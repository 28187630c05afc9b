package group

import "math"

// addFloats adds the images of floats to a state, as addFloat does for each. The bins are in an array with room for the pieces
// below the lowest bin, which are dropped, so that no piece is compared with the number of bins.
func addFloats(state, images []uint64) {
	const room = 8 // a power of two above powerBinCount + sumPieceCount - 2
	var bins [room]uint64
	binCount := uint64(len(state) - sumBins)
	copy(bins[:], state[sumBins:])
	top := state[sumTop]
	for _, image := range images {
		place := uint64(placeOfExponent[image>>52&0x7ff])
		below := top - place>>8
		if below >= binCount { // not normal, above the top, or below all bins
			if image<<1 == 0 || place != notNormal && below < 1<<63 {
				continue
			}
			copy(state[sumBins:], bins[:])
			addFloat(state, math.Float64frombits(image))
			copy(bins[:], state[sumBins:])
			top = state[sumTop]
			continue
		}
		significand, shift := image&(1<<52-1)|1<<52, place&63
		low, high := significand<<shift, significand>>1>>(63-shift)
		sign := uint64(int64(image) >> 63)
		bins[below%room] += ((low>>(2*binBits) | high<<(64-2*binBits)) ^ sign) - sign
		bins[(below+1)%room] += ((low >> binBits & (1<<binBits - 1)) ^ sign) - sign
		bins[(below+2)%room] += ((low & (1<<binBits - 1)) ^ sign) - sign
	}
	copy(state[sumBins:], bins[:])
}

// placeOfExponent has, for each exponent of a normal float64, the number of the bin of its lowest piece plus 1, shifted by 8 bits, and
// the shift of the significand in it.
var placeOfExponent = func() (places [1 << 11]uint16) {
	for exponent := range places {
		position := exponent - 1
		places[exponent] = uint16((position/binBits+1)<<8 | position%binBits)
	}
	places[0], places[len(places)-1] = notNormal, notNormal
	return places
}()

// notNormal is the place of numbers that are zero, subnormal or not finite: above all tops.
const notNormal = 0xffff

// addProducts adds the products of pairs of floats to a state, as addTerm does for each. The arrays are for the images of the
// products and of their low parts.
func addProducts(state, x, y []uint64, high, low *[blockRows]uint64) {
	y = y[:len(x)]
	for i := range min(len(x), blockRows) {
		p := product2(math.Float64frombits(x[i]), math.Float64frombits(y[i]))
		if !isFinite(p.high) {
			p.low = 0
		}
		high[i], low[i] = math.Float64bits(p.high), math.Float64bits(p.low)
	}
	addFloats(state, high[:len(x)])
	addFloats(state, low[:len(x)])
}
