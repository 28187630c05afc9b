package hosteval

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/bitutil"

	"github.com/gpuframe/gpuframe/internal/base/address"
)

// comparisonLoop compares 8 rows per byte of to, and writes one bit per row.
type comparisonLoop func(to, x, y []byte)

func comparison[T any](loop func(to []byte, x, y []T)) comparisonLoop {
	return func(to, x, y []byte) { loop(to, address.ValuesOf[T](x), address.ValuesOf[T](y)) }
}

func (e *evaluation) compared(x, y operand, loop comparisonLoop) arrow.Array {
	truths := make([]byte, bitutil.BytesForBits(int64(e.rows)))
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		n := min(blockRows, e.rows-first)
		left, right, to := x.rows(first, n), y.rows(first, n), truths[first/8:]
		whole := n / 8
		loop(to[:whole], left[:8*whole*x.width], right[:8*whole*x.width])
		if n%8 != 0 {
			var last [2][16]uint64 // aligned for every type
			lastLeft, lastRight := address.BytesOf(last[0][:])[:8*x.width], address.BytesOf(last[1][:])[:8*x.width]
			copy(lastLeft, left[8*whole*x.width:])
			copy(lastRight, right[8*whole*x.width:])
			loop(to[whole:whole+1], lastLeft, lastRight)
			to[whole] &= 1<<(n%8) - 1
		}
	}
	return e.assemble(arrow.FixedWidthTypes.Boolean, truths, x.valid, y.valid)
}

func equalEach[T number](to []byte, x, y []T) {
	for i := range to {
		x, y := (*[8]T)(x[8*i:]), (*[8]T)(y[8*i:])
		to[i] = bit(x[0] == y[0]) | bit(x[1] == y[1])<<1 | bit(x[2] == y[2])<<2 | bit(x[3] == y[3])<<3 |
			bit(x[4] == y[4])<<4 | bit(x[5] == y[5])<<5 | bit(x[6] == y[6])<<6 | bit(x[7] == y[7])<<7
	}
}

func notEqualEach[T number](to []byte, x, y []T) {
	for i := range to {
		x, y := (*[8]T)(x[8*i:]), (*[8]T)(y[8*i:])
		to[i] = bit(x[0] != y[0]) | bit(x[1] != y[1])<<1 | bit(x[2] != y[2])<<2 | bit(x[3] != y[3])<<3 |
			bit(x[4] != y[4])<<4 | bit(x[5] != y[5])<<5 | bit(x[6] != y[6])<<6 | bit(x[7] != y[7])<<7
	}
}

func lessEach[T number](to []byte, x, y []T) {
	for i := range to {
		x, y := (*[8]T)(x[8*i:]), (*[8]T)(y[8*i:])
		to[i] = bit(x[0] < y[0]) | bit(x[1] < y[1])<<1 | bit(x[2] < y[2])<<2 | bit(x[3] < y[3])<<3 |
			bit(x[4] < y[4])<<4 | bit(x[5] < y[5])<<5 | bit(x[6] < y[6])<<6 | bit(x[7] < y[7])<<7
	}
}

func lessEqualEach[T number](to []byte, x, y []T) {
	for i := range to {
		x, y := (*[8]T)(x[8*i:]), (*[8]T)(y[8*i:])
		to[i] = bit(x[0] <= y[0]) | bit(x[1] <= y[1])<<1 | bit(x[2] <= y[2])<<2 | bit(x[3] <= y[3])<<3 |
			bit(x[4] <= y[4])<<4 | bit(x[5] <= y[5])<<5 | bit(x[6] <= y[6])<<6 | bit(x[7] <= y[7])<<7
	}
}

// compareEach is the loop of a comparison of floats.
func compareEach[T float](holds func(x, y T) bool) func(to []byte, x, y []T) {
	return func(to []byte, x, y []T) {
		for i := range to {
			x, y := (*[8]T)(x[8*i:]), (*[8]T)(y[8*i:])
			truths := byte(0)
			for j := range x {
				truths |= bit(holds(x[j], y[j])) << j
			}
			to[i] = truths
		}
	}
}
