package lookback

// The shape of the state: see lookback.cuh.
const (
	header = 128
	group  = 32
	span   = group * group
	stride = span + 2*group
)

// Bytes returns the length of the state for so many tiles, of which there may be
// none, whose folds have valueBytes each. The state is zeroed before each launch:
//
//	block, slices, err := call.Allocate(lookback.Bytes(tiles, 8))
//	err = slices[0].Fill(call.Stream, 0)
//
// The fold of a tile comes with a flag in every word: 8 bytes for each 4.
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
