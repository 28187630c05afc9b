package window_test

import (
	"math"
	"math/big"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
)

// A simple model of the cumulative operators, with integers of any size.

var one = big.NewInt(1)

// integer returns a row's value.
func integer(a arrow.Array, row int) *big.Int {
	bytes := slices.Clone(raw(a, row))
	slices.Reverse(bytes)
	x := new(big.Int).SetBytes(bytes)
	if !isUnsigned(a.DataType()) && x.Bit(8*len(bytes)-1) == 1 {
		x.Sub(x, new(big.Int).Lsh(one, uint(8*len(bytes))))
	}
	return x
}

func isUnsigned(t arrow.DataType) bool {
	return t.ID() == arrow.UINT8 || t.ID() == arrow.UINT16 || t.ID() == arrow.UINT32 || t.ID() == arrow.UINT64
}

// wrapped wraps a number to the range of a type.
func wrapped(t arrow.DataType, x *big.Int) *big.Int {
	bits := uint(t.(arrow.FixedWidthDataType).BitWidth())
	x = new(big.Int).And(x, new(big.Int).Sub(new(big.Int).Lsh(one, bits), one))
	if !isUnsigned(t) && x.Bit(int(bits)-1) == 1 {
		x.Sub(x, new(big.Int).Lsh(one, bits))
	}
	return x
}

// cumulated returns the results, nil for null, of a fold that starts with the first
// value.
func cumulated[T any](a arrow.Array, skip bool, at func(row int) T, fold func(so, x T) T) []*T {
	results := make([]*T, a.Len())
	var so *T
	for row := range results {
		if a.IsNull(row) {
			if !skip {
				break
			}
			continue
		}
		x := at(row)
		if so != nil {
			x = fold(*so, x)
		}
		so = &x
		results[row] = so
	}
	return results
}

func float(a arrow.Array, row int) float64 {
	switch a := a.(type) {
	case *array.Float16:
		return float64(float16.Num(a.Value(row)).Float32())
	case *array.Float32:
		return float64(a.Value(row))
	}
	return a.(*array.Float64).Value(row)
}

// lessFloat returns the smaller number. It skips NaN and orders −0 before 0.
func lessFloat(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	case a == b && math.Signbit(a):
		return a
	case a <= b && a != b:
		return a
	}
	return b
}

func moreFloat(a, b float64) float64 { return -lessFloat(-a, -b) }
