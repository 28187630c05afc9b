package window

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// CumulativeMin returns, for each row, the minimum of all rows up to it. It supports
// integers, floats, 128-bit decimals, and temporal types that consist of one number. In
// all other respects it is like [CumulativeSum].
func CumulativeMin(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	return cumulate(ctx, &minimum, c, options)
}

// CumulativeMax returns, for each row, the maximum of all rows up to it. In all other
// respects it is like [CumulativeMin].
func CumulativeMax(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	return cumulate(ctx, &maximum, c, options)
}

// orderedTypes names the types that ordered accepts.
const orderedTypes = "numbers, 128-bit decimals, dates, times, timestamps, durations or months"

// minimum and maximum share kernels that find the smallest unsigned integer. flip maps
// the order of the values to the order of unsigned integers, and for maximum reverses
// it.
var (
	minimum = fold{name: "cumulative minimum", takes: ordered, expected: orderedTypes, kernels: leastKernels,
		flip: func(s storage) uint64 { return signBit(s) }, host: extremesOnHost(signBit)}
	maximum = fold{name: "cumulative maximum", takes: ordered, expected: orderedTypes, kernels: leastKernels,
		flip: func(s storage) uint64 { return ^signBit(s) }, host: extremesOnHost(func(s storage) uint64 { return ^signBit(s) })}
)

// ordered returns the storage of types that can be compared.
func ordered(t arrow.DataType) (storage, bool) {
	if s, ok := number(t); ok {
		return s, true
	}
	if t.ID() == arrow.DECIMAL128 {
		return decimalStorage, true
	}
	return temporal(t)
}

// signBit returns the sign bit of signed integers, in the upper word of decimals, and
// zero for unsigned integers and floats.
func signBit(s storage) uint64 {
	if s.class != layout.Signed {
		return 0
	}
	return 1 << (8*min(s.bytes, 8) - 1)
}

// leastKernels find the smallest unsigned integer.
var leastKernels = newInstances("least", func(s storage) definition {
	if s.bytes == 16 {
		return leastDecimal
	}
	d := integers(s, "min.u", math.MaxUint64)
	d.absorbs = instruction(fmt.Sprintf("set.le.u32.u%d", s.wordBits()))
	if s.class == layout.Float {
		f := floatFormatOf(s)
		d.widen, d.narrow = f.ordered, f.unordered
	} else {
		d.widen = instruction(fmt.Sprintf("xor.b%d", s.wordBits()))
		d.narrow = d.widen
	}
	return d
})

// leastDecimal has the sign in the upper of two words, to which flip applies. The lower
// word is inverted if the lowest bit of flip is set, as for the maximum.
var leastDecimal = definition{
	none: []ptx.Register{"0xffffffffffffffff", "0xffffffffffffffff"},
	fold: func(b *ptx.Builder, results, arguments []ptx.Register) {
		less := lessDecimals(b, arguments[2:], arguments[:2])
		b.Move("selp.b64", results[0], arguments[2], arguments[0], less)
		b.Move("selp.b64", results[1], arguments[3], arguments[1], less)
	},
	absorbs: func(b *ptx.Builder, results, arguments []ptx.Register) {
		b.Move("selp.b32", results[0], "0", "1", lessDecimals(b, arguments[2:], arguments[:2]))
	},
	widen:  flipDecimal,
	narrow: flipDecimal,
}

// lessDecimals returns whether x is less than y.
func lessDecimals(b *ptx.Builder, x, y []ptx.Register) ptx.Register {
	equal := b.Op(ptx.Predicate, "setp.eq.u64", x[1], y[1])
	below := b.Op(ptx.Predicate, "setp.lt.and.u64", x[0], y[0], equal)
	return b.Op(ptx.Predicate, "setp.lt.or.u64", x[1], y[1], below)
}

func flipDecimal(b *ptx.Builder, results, arguments []ptx.Register) {
	lowest := b.Op(ptx.Word64, "bfe.s64", arguments[2], "0", "1")
	b.Move("xor.b64", results[0], arguments[0], lowest)
	b.Move("xor.b64", results[1], arguments[1], arguments[2])
}

func extremesOnHost(flip func(storage) uint64) func(s storage, in op.HostView, out op.HostBuffers) {
	return func(s storage, in op.HostView, out op.HostBuffers) {
		switch flip := flip(s); {
		case s.class == layout.Float:
			lowestFloats(s, flip, in, out)
		case s.bytes == 16:
			lowestDecimals(flip, in, out)
		case s.bytes == 1:
			lowestIntegers[uint8](flip, in, out)
		case s.bytes == 2:
			lowestIntegers[uint16](flip, in, out)
		case s.bytes == 4:
			lowestIntegers[uint32](flip, in, out)
		default:
			lowestIntegers[uint64](flip, in, out)
		}
	}
}

func lowestIntegers[T word](flip uint64, in op.HostView, out op.HostBuffers) {
	values, results, mask := op.Elements[T](in.Values), op.Elements[T](out.Values), T(flip)
	acc := ^T(0)
	for row := range in.Rows {
		if in.IsValid(row) {
			acc = min(acc, values[row]^mask)
		}
		results[row] = acc ^ mask
	}
}

func lowestDecimals(flip uint64, in op.HostView, out op.HostBuffers) {
	values, results := op.Elements[decimal](in.Values), op.Elements[decimal](out.Values)
	mask := decimal{-(flip & 1), flip}
	acc := decimal{^uint64(0), ^uint64(0)}
	for row := range in.Rows {
		if in.IsValid(row) {
			value := decimal{values[row][0] ^ mask[0], values[row][1] ^ mask[1]}
			if lessDecimal(value, acc) {
				acc = value
			}
		}
		results[row] = decimal{acc[0] ^ mask[0], acc[1] ^ mask[1]}
	}
}

// lowestFloats folds floats as integers in the same order.
func lowestFloats(s storage, flip uint64, in op.HostView, out op.HostBuffers) {
	acc := uint64(math.MaxUint64)
	for row := range in.Rows {
		if in.IsValid(row) {
			acc = min(acc, floatKey(floatAt(s, in.Values, row), flip))
		}
		putFloat(s, out.Values, row, keyedFloat(acc, flip))
	}
}

// nanKey is greater than the keys of all numbers and less than the key for no value.
const nanKey = math.MaxUint64 - 1

func floatKey(x float64, flip uint64) uint64 {
	if x != x {
		return nanKey
	}
	key := math.Float64bits(x)
	return key ^ (uint64(int64(key)>>63) | 1<<63) ^ flip
}

func keyedFloat(key, flip uint64) float64 {
	if key >= nanKey {
		return math.NaN()
	}
	key ^= flip
	return math.Float64frombits(key ^ (uint64(int64(^key)>>63) | 1<<63))
}
