package reduce

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow/float16"

	"github.com/gpuframe/gpuframe/internal/op/aggregate"
)

// finishHost makes a result of the states' partials: up to 16 bytes of value, and
// whether it is valid. It corresponds to writer.result on a GPU.
func (p *plan) finishHost(r result, partials [][]uint64) (value [16]byte, valid bool) {
	first, second := partials[r.first], partials[r.second]
	var words [2]uint64
	valid = second[0] != 0
	switch r.finish {
	case finishCount:
		words[0], valid = first[0], true
	case finishDifference:
		words[0], valid = first[0]-second[0], true
	case finishAny:
		words[0] = min(first[0], 1)
	case finishAll:
		if first[0] == second[0] {
			words[0] = 1
		}
	case finishRow:
		words[0] = first[len(first)-1]
		valid = words[0] != aggregate.NoRow
	case finishMean:
		words[0] = canonicalBits(aggregate.DivideByCountHost(sumAsFloat(p.states[r.first], first), max(second[0], 1)))
	case finishVariance, finishDeviation:
		valid = first[0] > uint64(r.freedom)
		x := aggregate.DivideByCountHost(math.Float64frombits(first[2]), max(first[0]-uint64(r.freedom), 1))
		if r.finish == finishDeviation {
			x = math.Sqrt(x)
		}
		words[0] = canonicalBits(x)
	case finishSum:
		copy(words[:], first)
		valid = valid && fitsHost(p.states[r.first], first)
	case finishMeanDecimal:
		var fits bool
		words, fits = aggregate.DecimalMean([3]uint64(first), max(second[0], 1), r.factor)
		valid = valid && fits
	case finishFloat:
		words[0] = narrowHost(math.Float64frombits(first[0]), width(r.kind))
	default:
		copy(words[:], first)
	}
	binary.LittleEndian.PutUint64(value[:], words[0])
	binary.LittleEndian.PutUint64(value[8:], words[1])
	return value, valid
}

func canonicalBits(x float64) uint64 {
	if x != x {
		return nan64
	}
	return math.Float64bits(x)
}

func narrowHost(x float64, bytes int) uint64 {
	switch {
	case bytes == 8:
		return canonicalBits(x)
	case bytes == 4 && x != x:
		return nan32
	case bytes == 4:
		return uint64(math.Float32bits(float32(x)))
	case x != x:
		return nan16
	}
	return uint64(float16.New(float32(x)).Uint16())
}

func sumAsFloat(s state, sum []uint64) float64 {
	switch {
	case s.kind == aggregate.SumFloat:
		return math.Float64frombits(sum[0])
	case s.kind != aggregate.SumWide && isSigned(s.form):
		return float64(int64(sum[0]))
	case s.kind != aggregate.SumWide:
		return float64(sum[0])
	}
	magnitude := [3]uint64{sum[0], sum[1]}
	negative := isSigned(s.form) && int64(sum[1]) < 0
	if negative {
		magnitude = aggregate.Negated(magnitude)
	}
	x := float64(float64(magnitude[1])*(1<<64)) + float64(magnitude[0])
	if negative {
		return -x
	}
	return x
}

// fitsHost reports whether a sum fits the type of the result.
func fitsHost(s state, sum []uint64) bool {
	switch {
	case s.kind == aggregate.SumDecimal:
		return aggregate.FitsDecimal([3]uint64(sum))
	case isSigned(s.form):
		return sum[1] == uint64(int64(sum[0])>>63)
	}
	return sum[1] == 0
}
