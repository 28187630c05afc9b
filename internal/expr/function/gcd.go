package function

import (
	"math/bits"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// gcd is the greatest number that divides two integers, and their magnitude if the other one
// is zero. That of the lowest integer of a signed type with itself or zero wraps to itself.
// It is Stein's algorithm, with shifts and differences, because GPUs have no instruction that
// divides.
var _ = register(Function{
	Name: "gcd",
	Integers: func(t Type, x, y uint64) uint64 {
		u, v := t.magnitude(x), t.magnitude(y)
		if u == 0 || v == 0 {
			return u | v
		}
		common := bits.TrailingZeros64(u | v)
		for u >>= bits.TrailingZeros64(u); v != 0; v -= u {
			v >>= bits.TrailingZeros64(v)
			u, v = min(u, v), max(u, v)
		}
		return u << common
	},
	Write: func(b *ptx.Builder, t Type, x []ptx.Register) ptx.Register {
		class, untyped := t.Class(), t.Class().Untyped()
		width := "32"
		if t.Bits == 64 {
			width = "64"
		}
		zeros := func(x ptx.Register) ptx.Register {
			return b.Op(ptx.Word32, "clz."+untyped, b.Op(class, "brev."+untyped, x))
		}
		u, v := writeMagnitude(b, t, width, x[0]), writeMagnitude(b, t, width, x[1])
		result := b.Op(class, "or."+untyped, u, v)
		loop, done := b.Label(), b.Label()
		b.Branch(b.Op(ptx.Predicate, "setp.eq.u"+width, u, "0"), done)
		b.Branch(b.Op(ptx.Predicate, "setp.eq.u"+width, v, "0"), done)
		common := zeros(result)
		b.Move("shr.u"+width, u, u, zeros(u))
		b.Place(loop)
		b.Move("shr.u"+width, v, v, zeros(v))
		less, more := b.Op(class, "min.u"+width, u, v), b.Op(class, "max.u"+width, u, v)
		b.Move("mov."+untyped, u, less)
		b.Move("sub.u"+width, v, more, less)
		b.Branch(b.Op(ptx.Predicate, "setp.ne.u"+width, v, "0"), loop)
		b.Move("shl."+untyped, result, u, common)
		b.Place(done)
		return result
	},
})

// magnitude returns the magnitude of an integer of a type.
func (t Type) magnitude(x uint64) uint64 {
	if t.Signed && int64(x) < 0 {
		return -x
	}
	return x
}

// writeMagnitude writes [Type.magnitude], into a new register.
func writeMagnitude(b *ptx.Builder, t Type, width string, x ptx.Register) ptx.Register {
	if !t.Signed {
		return b.Op(t.Class(), "mov."+t.Class().Untyped(), x)
	}
	negated := b.Op(t.Class(), "sub.s"+width, "0", x)
	return b.Op(t.Class(), "selp."+t.Class().Untyped(), negated, x, b.Op(ptx.Predicate, "setp.lt.s"+width, x, "0"))
}
