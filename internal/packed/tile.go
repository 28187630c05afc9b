package packed

import (
	"fmt"
	"math/bits"
	"unsafe"
)

const (
	// TileRows is the number of rows of a tile, all but the last one of a block.
	TileRows = 2048
	// BlockRows is the number of rows of a block, all but the last one of a column.
	BlockRows = 32 * TileRows
	// padding is the number of bytes behind the data of a block: kernels read whole words.
	padding = 16
	// runWords is the number of words of the bits that mark the first rows of runs.
	runWords = TileRows / 64
)

// form is how the codes of a tile give its values.
type form uint8

const (
	// offsets: value i is reference + factor·code i.
	offsets form = iota
	// deltas: value i is the value before it + factor + code i; the value before the first is the reference.
	deltas
	// runs: a bit for each row marks the first rows of runs. The value of run k is reference + factor·code k.
	runs
	// wide: values of 16 bytes as they are.
	wide
)

const (
	// none is the place of a bitmap that a tile does not have.
	none = 1<<32 - 1
	// asBits is the exponent of floats that are stored by their bits.
	asBits = 0xff
	// mostExponent is the greatest power of ten that divides codes of floats.
	mostExponent = 15
)

// tile describes the rows of a tile: Tile of block.cuh. The tiles are at the beginning of a block.
type tile struct {
	// reference and factor are numbers of the form, without their sign.
	reference, factor uint64
	// data is the offset of the codes in the block, validity that of the bitmap, or none.
	data, validity uint32
	// text is the number of bytes of strings in the tiles before.
	text  uint32
	form  form
	width uint8
	// exponent of floats: a value is divided by that power of ten, or has the bits of a float.
	exponent uint8
	_        uint8
}

const tileBytes = uint32(unsafe.Sizeof(tile{}))

// tileCount is the number of tiles of some rows.
func tileCount(rows int) int { return (rows + TileRows - 1) / TileRows }

// codeBytes is the length of codes, in whole words of 8 bytes.
func codeBytes(count int, width uint8) int { return (count*int(width) + 63) / 64 * 8 }

// size is the length of the data of a tile with rows. marked is the number of runs.
func (t *tile) size(rows, marked int) int {
	switch t.form {
	case runs:
		return 8*runWords + codeBytes(marked, t.width)
	case wide:
		return 16 * rows
	}
	return codeBytes(rows, t.width)
}

// within reports whether length bytes from an offset on, and the words that kernels read behind them, are in a block.
func within(block []byte, offset uint32, length int) bool {
	return offset%8 == 0 && uint64(offset)+uint64(length)+padding <= uint64(len(block))
}

// check checks the tile against its block, except the codes of runs. It is the check of the kernels.
func (t *tile) check(block []byte, rows int, wideValues bool) error {
	switch {
	case t.form > wide || t.width > 64 || (t.form == wide) != wideValues && t.form == wide:
		return fmt.Errorf("form %d with codes of %d bits: %w", t.form, t.width, ErrDamaged)
	case t.exponent > mostExponent && t.exponent != asBits:
		return fmt.Errorf("exponent %d: %w", t.exponent, ErrDamaged)
	case !within(block, t.data, t.size(rows, 0)):
		return fmt.Errorf("codes at %d of %d bytes: %w", t.data, len(block), ErrDamaged)
	case t.validity != none && !within(block, t.validity, TileRows/8):
		return fmt.Errorf("a bitmap at %d of %d bytes: %w", t.validity, len(block), ErrDamaged)
	}
	return nil
}

// appendCodes appends codes of a width.
func appendCodes(to []uint64, codes []uint64, width uint8) []uint64 {
	if width == 0 {
		return to
	}
	word, used := uint64(0), uint8(0)
	for _, code := range codes {
		word |= code << used
		if used += width; used >= 64 {
			to = append(to, word)
			used -= 64
			word = code >> (width - used) // 0 for a shift of 64
		}
	}
	if used > 0 {
		to = append(to, word)
	}
	return to
}

// unpackCodes reads codes of a width.
func unpackCodes(codes []uint64, words []uint64, width uint8) {
	if width == 0 {
		clear(codes)
		return
	}
	mask := ^uint64(0) >> (64 - width)
	for i := range codes {
		at := i * int(width)
		shift := at % 64
		code := words[at/64] >> shift
		if shift+int(width) > 64 {
			code |= words[at/64+1] << (64 - shift)
		}
		codes[i] = code & mask
	}
}

// widthOf is the number of bits of codes up to a greatest one.
func widthOf(greatest uint64) uint8 { return uint8(bits.Len64(greatest)) }
