package group

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/numbers"
)

// bins maps values of a number format to bins. Its other fields are those of the kernels'
// struct Bins.
type bins struct {
	number  numbers.Type
	mapping mapping
	count   int
	// clamp counts the values outside in the outermost bins.
	clamp bool
	// a, b and c depend on the mapping: the lowest integer, the largest distance from
	// it and the width of a bin; or the bits of the lowest value, of the highest and,
	// for bins of equal width, of the number of bins per unit.
	a, b, c uint64
	edges   []float64
}

// whole reports whether values are compared as integers.
func (m mapping) whole() bool { return m <= unsignedWidth }

// bins returns the bins that the options define for a number format.
func (o HistogramOptions) bins(number numbers.Type) (bins, error) {
	if len(o.Edges) > 0 {
		return o.binsBetweenEdges()
	}
	switch {
	case o.Bins < 1 || o.Bins > MaxBins:
		return bins{}, fmt.Errorf("the number of bins is %d, not in 1 to %d: %w", o.Bins, MaxBins, device.ErrInvalidValue)
	case !(o.Low < o.High) || math.IsInf(o.High-o.Low, 0):
		return bins{}, fmt.Errorf("the bounds Low = %v and High = %v are not two finite values in ascending order: %w", o.Low, o.High, device.ErrInvalidValue)
	}
	if width, ok := o.wholeWidth(number); ok {
		low, high := int64(o.Low), int64(o.High)
		return wholeBins(number, low, uint64(high)-uint64(low), width, o.Bins, o.CountOutside), nil
	}
	return bins{
		mapping: equalWidth, count: o.Bins, clamp: o.CountOutside,
		a: math.Float64bits(o.Low), b: math.Float64bits(o.High), c: math.Float64bits(float64(o.Bins) / (o.High - o.Low)),
	}, nil
}

// wholeWidth returns the width of the bins if integers can be compared as integers: the
// bounds and the width are integers, and the kernel can compute the distance of a value
// from Low and divide it by the width. For values of up to 32 bits it does so in 32 bits.
func (o HistogramOptions) wholeWidth(number numbers.Type) (uint64, bool) {
	width := (o.High - o.Low) / float64(o.Bins)
	switch {
	case number.Class == numbers.Float,
		!isWhole(o.Low) || !isWhole(o.High) || !isWhole(width) || width*float64(o.Bins) != o.High-o.Low,
		number.Class == numbers.Unsigned && o.Low < 0:
		return 0, false
	case number.Bytes == 8:
		return uint64(width), true
	}
	lowest := 0.0
	if number.Class == numbers.Signed {
		lowest = -math.Ldexp(1, number.Bits()-1)
	}
	return uint64(width), width <= math.MaxUint32 && (o.Low >= lowest || o.High-o.Low <= math.MaxUint32)
}

// isWhole reports whether a float is an integer of at most 53 bits, so that it is exact.
func isWhole(x float64) bool { return x == math.Trunc(x) && math.Abs(x) <= 1<<53 }

// wholeBins returns bins of integers. They begin at low and hold the distances from it
// up to last; the last bin holds the remaining
// distances.
func wholeBins(number numbers.Type, low int64, last, width uint64, count int, clamp bool) bins {
	b := bins{mapping: signedWidth, count: count, clamp: clamp, a: uint64(low), b: last, c: width}
	if number.Class == numbers.Unsigned {
		b.mapping = unsignedWidth
	}
	return b
}

func (o HistogramOptions) binsBetweenEdges() (bins, error) {
	if len(o.Edges) < 2 || len(o.Edges)-1 > MaxBins {
		return bins{}, fmt.Errorf("the number of edges is %d, not in 2 to %d: %w", len(o.Edges), MaxBins+1, device.ErrInvalidValue)
	}
	for i, edge := range o.Edges {
		if edge != edge || i > 0 && edge < o.Edges[i-1] {
			return bins{}, fmt.Errorf("the edge Edges[%d] is %v: edges are numbers in ascending order: %w", i, edge, device.ErrInvalidValue)
		}
	}
	lowest, highest := o.Edges[0], o.Edges[len(o.Edges)-1]
	return bins{
		mapping: betweenEdges, count: len(o.Edges) - 1, clamp: o.CountOutside, edges: o.Edges,
		a: math.Float64bits(lowest), b: math.Float64bits(highest),
	}, nil
}
