package window

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow/float16"

	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
)

// adding and multiplying are the folds of floats. Their initial values change no value:
// an initial 0 would turn −0 into 0.
type adding struct{}

func (adding) None() float64             { return math.Copysign(0, -1) }
func (adding) Fold(a, b float64) float64 { return a + b }

type multiplying struct{}

func (multiplying) None() float64             { return 1 }
func (multiplying) Fold(a, b float64) float64 { return a * b }

// tiled folds in the order of the kernel: see scan_tiles in cuda/cumulative.cuh.
func tiled[F lookback.Fold[float64]](fold F, cut shape, s storage, in op.HostView, out op.HostBuffers) {
	warpRows, tileRows := cut.warpRows(), cut.tileRows()
	folded := make([]float64, tileRows)
	ahead := lookback.NewTold[float64](fold)
	for begin := 0; begin < in.Rows; begin += tileRows {
		for row := range folded {
			folded[row] = fold.None()
			if at := begin + row; at < in.Rows && in.IsValid(at) {
				folded[row] = floatAt(s, in.Values, at)
			}
		}
		var warpAhead [tileWarps]float64
		total := fold.None()
		for warp := range warpAhead {
			warpAhead[warp] = total
			total = fold.Fold(total, scanWarp(fold, cut, folded[warp*warpRows:(warp+1)*warpRows]))
		}
		tileAhead := ahead.Next(total)
		for row := range min(tileRows, in.Rows-begin) {
			before := fold.Fold(tileAhead, warpAhead[row/warpRows])
			putFloat(s, out.Values, begin+row, fold.Fold(before, folded[row]))
		}
	}
}

// scanWarp replaces the rows of one warp by their cumulative folds, and returns the
// fold of all.
func scanWarp[F lookback.Fold[float64]](fold F, cut shape, rows []float64) float64 {
	each := cut.lanes * cut.loads
	var lanes [32]float64
	for lane := range lanes {
		own := rows[lane*each : (lane+1)*each]
		for j := 1; j < len(own); j++ {
			own[j] = fold.Fold(own[j-1], own[j])
		}
		lanes[lane] = own[len(own)-1]
	}
	lookback.WarpScan(fold, &lanes)
	for lane := range lanes {
		before := fold.None()
		if lane > 0 {
			before = lanes[lane-1]
		}
		for j := lane * each; j < (lane+1)*each; j++ {
			rows[j] = fold.Fold(before, rows[j])
		}
	}
	return lanes[31]
}

func floatAt(s storage, values []byte, row int) float64 {
	switch s.bytes {
	case 2:
		return float64(float16.FromBits(op.Elements[uint16](values)[row]).Float32())
	case 4:
		return float64(op.Elements[float32](values)[row])
	}
	return op.Elements[float64](values)[row]
}

func putFloat(s storage, values []byte, row int, x float64) {
	switch s.bytes {
	case 2:
		op.Elements[uint16](values)[row] = half(x)
	case 4:
		op.Elements[float32](values)[row] = float32(x)
	default:
		op.Elements[float64](values)[row] = x
	}
}

// half rounds to 16 bits directly, ties to even. Rounding to 32 bits first would round
// twice.
func half(x float64) uint16 {
	sign := uint16(math.Float64bits(x) >> 48 & 0x8000)
	x = math.Abs(x)
	switch {
	case x != x:
		return 0x7e00
	case x >= 65520: // halfway between the largest number and the next one
		return sign | 0x7c00
	}
	_, exponent := math.Frexp(x) // x = fraction · 2^exponent, ½ ≤ fraction < 1
	exponent = max(exponent-1, -14)
	units := uint16(math.RoundToEven(math.Ldexp(x, 10-exponent)))
	// units is the fraction with its leading bit, which is absent below 2⁻¹⁴. A carry
	// out of the fraction increments the exponent.
	if units < 1<<10 {
		return sign | units
	}
	return sign | uint16(exponent+14)<<10 + units
}
