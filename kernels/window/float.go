package window

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// roundedFloats defines a fold of floats in 64 bits by one instruction. Each result is
// rounded to the width of the values.
func roundedFloats(s storage, operation string, none float64) definition {
	d := definition{
		none:   []ptx.Register{ptx.Register(fmt.Sprintf("0d%016X", math.Float64bits(none)))},
		fold:   instruction(operation),
		rounds: true,
	}
	switch s.bytes {
	case 2:
		d.widen = func(b *ptx.Builder, results, arguments []ptx.Register) {
			b.Move("cvt.f64.f16", results[0], b.Op(ptx.Word16, "cvt.u16.u32", arguments[0]))
		}
		d.narrow = func(b *ptx.Builder, results, arguments []ptx.Register) {
			b.Move("cvt.u32.u16", results[0], b.Op(ptx.Word16, "cvt.rn.f16.f64", arguments[0]))
		}
	case 4:
		d.widen = func(b *ptx.Builder, results, arguments []ptx.Register) {
			b.Move("cvt.f64.f32", results[0], arguments[0])
		}
		d.narrow = func(b *ptx.Builder, results, arguments []ptx.Register) {
			b.Move("cvt.rn.f32.f64", results[0], arguments[0])
		}
	}
	return d
}

// floatFormat describes floats of 16, 32 or 64 bits as words of at least 32 bits.
type floatFormat struct {
	word, bits int
	class      ptx.Class
	// sign is the sign bit, infinity the bits of +∞ and nan those of the NaN of results.
	sign, infinity, nan uint64
}

func floatFormatOf(s storage) floatFormat {
	switch s.bytes {
	case 2:
		return floatFormat{32, 16, ptx.Word32, 1 << 15, 0x7c00, 0x7e00}
	case 4:
		return floatFormat{32, 32, ptx.Word32, 1 << 31, 0x7f800000, 0x7fc00000}
	}
	return floatFormat{64, 64, ptx.Word64, 1 << 63, 0x7ff0000000000000, 0x7ff8000000000000}
}

func (f floatFormat) instruction(name string) string { return fmt.Sprintf("%s%d", name, f.word) }

// nanKey is above the keys of all numbers and below the identity of least.
func (f floatFormat) nanKey() ptx.Register { return immediate(1<<f.word - 2) }

// flipsOf returns the bits that the order of floats inverts: all if the sign bit of x is
// set, and otherwise the sign bit.
func (f floatFormat) flipsOf(b *ptx.Builder, x ptx.Register) ptx.Register {
	if f.bits < f.word {
		ones := b.Op(f.class, f.instruction("bfe.s"), x, immediate(uint64(f.bits-1)), "1")
		ones = b.Op(f.class, f.instruction("and.b"), ones, immediate(f.sign-1))
		return b.Op(f.class, f.instruction("or.b"), ones, immediate(f.sign))
	}
	ones := b.Op(f.class, f.instruction("shr.s"), x, immediate(uint64(f.bits-1)))
	return b.Op(f.class, f.instruction("or.b"), ones, immediate(f.sign))
}

// ordered writes the key of a float: an unsigned integer of the same order, of which it
// inverts the bits of flip. −0 is before 0 and NaN after all numbers, for any flip.
func (f floatFormat) ordered(b *ptx.Builder, results, arguments []ptx.Register) {
	x, flip := arguments[0], arguments[1]
	xor := f.instruction("xor.b")
	key := b.Op(f.class, xor, b.Op(f.class, xor, x, f.flipsOf(b, x)), flip)
	magnitude := b.Op(f.class, f.instruction("and.b"), x, immediate(f.sign-1))
	isNaN := b.Op(ptx.Predicate, f.instruction("setp.gt.u"), magnitude, immediate(f.infinity))
	b.Move(f.instruction("selp.b"), results[0], f.nanKey(), key, isNaN)
}

// unordered writes the float of a key.
func (f floatFormat) unordered(b *ptx.Builder, results, arguments []ptx.Register) {
	key, flip := arguments[0], arguments[1]
	xor := f.instruction("xor.b")
	isNaN := b.Op(ptx.Predicate, f.instruction("setp.ge.u"), key, f.nanKey())
	x := b.Op(f.class, xor, key, flip)
	x = b.Op(f.class, xor, x, f.flipsOf(b, b.Op(f.class, f.instruction("not.b"), x)))
	b.Move(f.instruction("selp.b"), results[0], immediate(f.nan), x, isNaN)
}
