package hosteval

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// compared compares two operands: the loop writes a bit for each of 8 rows to each
// byte.
func compared[T number](e *evaluation, x, y lane[T], loop func(to []byte, x, y []T)) arrow.Array {
	truths := make([]byte, bitutil.BytesForBits(int64(e.rows)))
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		n := min(blockRows, e.rows-first)
		left, right, to := x.block(first, n), y.block(first, n), truths[first/8:]
		whole := n / 8
		loop(to[:whole], left[:8*whole], right[:8*whole])
		if n%8 != 0 {
			var lastLeft, lastRight [8]T
			copy(lastLeft[:], left[8*whole:])
			copy(lastRight[:], right[8*whole:])
			loop(to[whole:whole+1], lastLeft[:], lastRight[:])
			to[whole] &= 1<<(n%8) - 1
		}
	}
	validity, nulls := intersect([]bitmap{x.valid, y.valid}, e.rows)
	data := array.NewData(arrow.FixedWidthTypes.Boolean, e.rows, []*arrowmemory.Buffer{validity, arrowmemory.NewBufferBytes(truths)}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
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
