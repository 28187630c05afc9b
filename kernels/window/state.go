package window

import (
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/float16"

	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
)

// noFormat is the format of values that are not read.
var noFormat = numbers.Type{Class: numbers.Classes, Bytes: 1}

// state is the fold of some rows: n of them have a value. Its meaning, and the order of the
// operations, are those of State in cuda/state.cuh; the products and sums are rounded
// separately.
type state struct {
	a, b uint64
	n    uint32
	head bool
}

// folding is the parameters of a fold.
type folding struct {
	fold   stateFold
	format numbers.Type
	// flip inverts the keys of foldLeast, which then finds the greatest value.
	flip  bool
	decay float64
}

func (f folding) stateOf(raw uint64, valid bool) state {
	s := state{a: raw}
	if valid {
		s.n = 1
	}
	switch f.fold {
	case foldIntegers:
		s.a = asInteger(raw, f.format)
		if f.format.Class == numbers.Signed {
			s.b = uint64(int64(s.a) >> 63)
		}
	case foldProduct, foldOr, foldXor:
		s.a = asInteger(raw, f.format)
	case foldLeast:
		s.a = f.key(raw)
	case foldDecay:
		s.a, s.b = math.Float64bits(asReal(raw, f.format)), math.Float64bits(1)
	case foldMoments:
		x := asReal(raw, f.format)
		s.a, s.b = math.Float64bits(x), math.Float64bits(x-x) // NaN unless the value is finite
	case foldFloats, foldFloatProduct, foldLinear:
		s.a = math.Float64bits(asReal(raw, f.format))
	}
	return s
}

func (f folding) foldOf(x, y state) state {
	if y.n == 0 {
		return x
	}
	if x.n == 0 {
		return y
	}
	s := state{n: x.n + y.n}
	xa, ya := math.Float64frombits(x.a), math.Float64frombits(y.a)
	xb, yb := math.Float64frombits(x.b), math.Float64frombits(y.b)
	switch f.fold {
	case foldIntegers:
		var carry uint64
		s.a, carry = bits.Add64(x.a, y.a, 0)
		s.b = x.b + y.b + carry
	case foldFloats:
		s.a = math.Float64bits(xa + ya)
	case foldProduct:
		s.a = x.a * y.a
	case foldOr:
		s.a = x.a | y.a
	case foldXor:
		s.a = x.a ^ y.a
	case foldFloatProduct:
		s.a = math.Float64bits(xa * ya)
	case foldLeast:
		s.a = min(x.a, y.a)
	case foldMoments:
		n, m, k, delta := float64(s.n), float64(x.n), float64(y.n), ya-xa
		s.a = math.Float64bits(xa + float64(delta*(k/n)))
		s.b = math.Float64bits(xb + yb + float64(float64(delta*delta)*float64(float64(m*k)/n)))
	case foldDecay:
		factor := power(f.decay, y.n)
		s.a = math.Float64bits(float64(xa*factor) + ya)
		s.b = math.Float64bits(float64(xb*factor) + yb)
	case foldLinear:
		s.a = math.Float64bits(float64(xa*yb) + ya)
		s.b = math.Float64bits(xb * yb)
	}
	return s
}

// foldHeads is foldOf for partitions that may begin among the rows.
func (f folding) foldHeads(x, y state) state {
	s := y
	if !y.head {
		s = f.foldOf(x, y)
	}
	s.head = x.head || y.head
	return s
}

// power returns base^n by squaring.
func power(base float64, n uint32) float64 {
	result := 1.0
	for ; n != 0; n /= 2 {
		if n%2 != 0 {
			result *= base
		}
		base *= base
	}
	return result
}

// asInteger extends an integer by its sign.
func asInteger(raw uint64, format numbers.Type) uint64 {
	if format.Class != numbers.Signed {
		return raw
	}
	unused := 64 - format.Bits()
	return uint64(int64(raw<<unused) >> unused)
}

func asReal(raw uint64, format numbers.Type) float64 {
	switch {
	case format.Class == numbers.Unsigned:
		return float64(raw)
	case format.Class != numbers.Float:
		return float64(int64(asInteger(raw, format)))
	case format.Bytes == 2:
		return float64(float16.FromBits(uint16(raw)).Float32())
	case format.Bytes == 4:
		return float64(math.Float32frombits(uint32(raw)))
	}
	return math.Float64frombits(raw)
}

// key returns the key of a value for foldLeast. NaN has the greatest key, in both
// directions.
func (f folding) key(raw uint64) uint64 {
	key := asInteger(raw, f.format)
	sign := uint64(1) << (f.format.Bits() - 1)
	switch f.format.Class {
	case numbers.Signed:
		key ^= 1 << 63
	case numbers.Float:
		if x := asReal(raw, f.format); x != x {
			return math.MaxUint64
		}
		if raw&sign != 0 {
			key = ^raw & (sign<<1 - 1)
		} else {
			key = raw | sign
		}
	}
	if f.flip {
		return ^key
	}
	return key
}

// unkey returns the value of a key.
func (f folding) unkey(key uint64) uint64 {
	isFloat := f.format.Class == numbers.Float
	if isFloat && key == math.MaxUint64 {
		return map[int]uint64{2: 0x7e00, 4: 0x7fc00000, 8: 0x7ff8000000000000}[f.format.Bytes]
	}
	if f.flip {
		key = ^key
	}
	sign := uint64(1) << (f.format.Bits() - 1)
	switch {
	case f.format.Class == numbers.Signed:
		return key ^ 1<<63
	case isFloat && key&sign != 0:
		return key ^ sign
	case isFloat:
		return ^key & (sign<<1 - 1)
	}
	return key
}

// writing is how a state becomes a value.
type writing struct {
	result  stateResult
	least   uint64
	freedom uint32
	bytes   int
}

// value returns the value of a state, and whether it is not null.
func (w writing) value(f folding, s state) (uint64, bool) {
	ok := uint64(s.n) >= w.least && s.n > 0
	if w.result == resultCount {
		return uint64(s.n), uint64(s.n) >= w.least
	}
	if !ok {
		return 0, false
	}
	a, b, n := math.Float64frombits(s.a), math.Float64frombits(s.b), float64(s.n)
	isSigned := f.format.Class == numbers.Signed
	switch w.result {
	case resultInteger:
		if isSigned {
			return s.a, s.b == uint64(int64(s.a)>>63)
		}
		return s.a, s.b == 0
	case resultIntegerMean:
		low, high := s.a, s.b
		negative := isSigned && int64(s.b) < 0
		if negative {
			var borrow uint64
			low, borrow = bits.Sub64(0, low, 0)
			high, _ = bits.Sub64(0, high, borrow)
		}
		sum := float64(float64(high)*(1<<64)) + float64(low)
		if negative {
			sum = -sum
		}
		return math.Float64bits(sum / n), true
	case resultMean:
		return math.Float64bits(a / n), true
	case resultKey:
		return f.unkey(s.a), true
	case resultVariance, resultDeviation:
		if s.n <= w.freedom {
			return 0, false
		}
		variance := b / float64(int64(s.n)-int64(w.freedom))
		if w.result == resultDeviation {
			variance = math.Sqrt(variance)
		}
		return math.Float64bits(variance), true
	case resultDecayed:
		return math.Float64bits(a / b), true
	}
	return s.a, true
}

// hostValues reads a column in memory of the processor.
type hostValues struct {
	op.HostView
	words func(row int) uint64
}

func newHostValues(in op.View, format numbers.Type) (hostValues, error) {
	v := hostValues{words: func(int) uint64 { return 0 }}
	if format == noFormat {
		valid, err := in.Valid.Host()
		if len(valid) > 0 {
			v.Valid = valid
		}
		v.Bit = in.Bit
		return v, err
	}
	host, err := in.Host()
	if err != nil {
		return v, err
	}
	v.HostView = host
	switch format.Bytes {
	case 1:
		v.words = func(row int) uint64 { return uint64(host.Values[row]) }
	case 2:
		values := op.Elements[uint16](host.Values)
		v.words = func(row int) uint64 { return uint64(values[row]) }
	case 4:
		values := op.Elements[uint32](host.Values)
		v.words = func(row int) uint64 { return uint64(values[row]) }
	default:
		values := op.Elements[uint64](host.Values)
		v.words = func(row int) uint64 { return values[row] }
	}
	return v, nil
}

// state returns the state of a row.
func (v *hostValues) state(f folding, row int) state {
	if !v.IsValid(row) {
		return state{}
	}
	return f.stateOf(v.words(row), true)
}
