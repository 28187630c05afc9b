package exprtest

import (
	"math"
	"math/big"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// TB is the part of testing.TB and rapid.T that comparisons need.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Compare fails the test unless both arrays have the same type, the same length, nulls
// in the same places and the same values elsewhere. Floats may differ by tolerance
// units in the last place. All NaN are equal, and -0 differs from 0 unless tolerance is
// above zero. Compare supports the types that expressions compute with.
func Compare(t TB, want, got arrow.Array, tolerance uint64) {
	t.Helper()
	if !arrow.TypeEqual(want.DataType(), got.DataType()) || want.Len() != got.Len() {
		t.Fatalf("want %d of %v, got %d of %v", want.Len(), want.DataType(), got.Len(), got.DataType())
	}
	kind := exprtree.KindOf(want.DataType())
	for i := range want.Len() {
		w, g := Cell(want, i), Cell(got, i)
		if !Same(w, g, kind, tolerance) {
			t.Fatalf("row %d of %d, %v: want %s, got %s", i, want.Len(), want.DataType(), Show(w), Show(g))
		}
	}
	if got.NullN() != want.NullN() {
		t.Fatalf("%d nulls but a null count of %d", want.NullN(), got.NullN())
	}
}

// CompareModel fails the test unless the array has the values of [Model].
func CompareModel(t TB, want []any, got arrow.Array, tolerance uint64) {
	t.Helper()
	if len(want) != got.Len() {
		t.Fatalf("want %d rows, got %d", len(want), got.Len())
	}
	kind := exprtree.KindOf(got.DataType())
	for i, w := range want {
		if g := Cell(got, i); !Same(w, g, kind, tolerance) {
			t.Fatalf("row %d of %d, %v: want %s, got %s", i, len(want), got.DataType(), Show(w), Show(g))
		}
	}
}

// Same reports whether two values of [Cell] are the same; see [Compare].
func Same(want, got any, kind exprtree.Kind, tolerance uint64) bool {
	switch w := want.(type) {
	case float64:
		g, ok := got.(float64)
		return ok && sameFloat(w, g, kind, tolerance)
	case *big.Int:
		g, ok := got.(*big.Int)
		return ok && w.Cmp(g) == 0
	}
	return want == got
}

func sameFloat(want, got float64, kind exprtree.Kind, tolerance uint64) bool {
	if math.IsNaN(want) || math.IsNaN(got) {
		return math.IsNaN(want) && math.IsNaN(got)
	}
	w, g := order(want, kind), order(got, kind)
	if w == g {
		return true
	}
	distance := uint64(w - g)
	if g > w {
		distance = uint64(g - w)
	}
	return distance <= tolerance
}

// order maps floats to integers of the same order; -0 is next to 0.
func order(x float64, kind exprtree.Kind) int64 {
	bits := int64(math.Float64bits(x))
	if kind == exprtree.Float32 {
		bits = int64(int32(math.Float32bits(float32(x))))
		if bits < 0 {
			return math.MinInt32 - bits - 1
		}
		return bits
	}
	if bits < 0 {
		return math.MinInt64 - bits - 1
	}
	return bits
}
