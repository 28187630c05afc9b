package group

import "math"

// addFloats adds the images of floats to a state, as addFloat does for each. The bins are in an array with room for the pieces
// below the lowest bin, which are dropped, so that no piece is compared with the number of bins.
func addFloats(state, images []uint64) {
	const room = 8 // a power of two above powerBinCount + sumPieceCount - 2
	var bins [room]uint64
	kept := uint64(len(state) - sumBins)
	copy(bins[:], state[sumBins:])
	top := state[sumTop]
	for _, image := range images {
		position := image>>52&0x7ff - 1
		below := top - position/binBits - 1
		if position >= 0x7fe || below >= kept { // zero, subnormal or not finite; above the top, or below all bins
			if image<<1 == 0 || position < 0x7fe && below < 1<<63 {
				continue
			}
			copy(state[sumBins:], bins[:])
			addFloat(state, math.Float64frombits(image))
			copy(bins[:], state[sumBins:])
			top = state[sumTop]
			continue
		}
		significand, shift := image&(1<<52-1)|1<<52, position%binBits
		low, high := significand<<shift, significand>>(64-shift)
		sign := uint64(int64(image) >> 63)
		bins[below%room] += ((low>>(2*binBits) | high<<(64-2*binBits)) ^ sign) - sign
		bins[(below+1)%room] += ((low >> binBits & (1<<binBits - 1)) ^ sign) - sign
		bins[(below+2)%room] += ((low & (1<<binBits - 1)) ^ sign) - sign
	}
	copy(state[sumBins:], bins[:])
}

// addProducts adds the products of pairs of floats to a state, as addTerm does for each. It overwrites the images of the floats.
func addProducts(state, x, y []uint64) {
	y = y[:len(x)]
	for i := range x {
		p := product2(math.Float64frombits(x[i]), math.Float64frombits(y[i]))
		if !isFinite(p.high) {
			p.low = 0
		}
		x[i], y[i] = math.Float64bits(p.high), math.Float64bits(p.low)
	}
	addFloats(state, x)
	addFloats(state, y)
}
