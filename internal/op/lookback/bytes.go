package lookback

// The layout of the state: see lookback.cuh.
const (
	header = 128
	group  = 32
	span   = group * group
	stride = span + 2*group
)

// Bytes returns the length of the state for a number of tiles, which may be zero, with
// folds of valueBytes each. Zero the state before each launch:
//
//	block, slices, err := call.Allocate(lookback.Bytes(tiles, 8))
//	err = slices[0].Fill(call.Stream, 0)
//
// Every word of a tile's fold has a flag: 8 bytes for each 4.
func Bytes(tiles, valueBytes uint64) uint64 {
	words := (valueBytes + 3) / 4
	if words > 1 {
		words = (words + 1) / 2 * 2
	}
	return header + (tiles+span-1)/span*stride*8*words
}

// ToldBytes is [Bytes] for the state of prefixes.cuh: a sum and a prefix for each tile.
func ToldBytes(tiles, valueBytes uint64) uint64 {
	words := (valueBytes + 3) / 4
	if words > 1 {
		words = (words + 1) / 2 * 2
	}
	return header + 2*tiles*8*words
}
