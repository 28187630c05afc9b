package codegen

import "github.com/gpuframe/gpuframe/internal/ptx"

// combine computes "and", "or" or "xor" of two predicates.
//
// The result is computed in registers of 32 bits with selp, not with and.pred, or.pred
// and xor.pred. ptxas 13.0 merges two operations on the same pair of predicates into one
// PLOP3 with two results. If one of the results is then found to be unused, it keeps the
// wrong one: of 3,000 random kernels of and, or, xor and not on six predicates it
// compiled 46 wrongly at every level above -O0, and none of them in this form (H100,
// driver 580, 2026-11-22; docs/measurements has the smallest case). A conjunction of two
// validity bitmaps, which most expressions compute, stays one instruction: see lane.and.
func combine(b *ptx.Builder, operation string, x, y ptx.Register) ptx.Register {
	word := b.Op(ptx.Word32, "selp.u32", "1", "0", y)
	switch operation {
	case "and":
		word = b.Op(ptx.Word32, "selp.u32", word, "0", x)
	case "or":
		word = b.Op(ptx.Word32, "selp.u32", "1", word, x)
	default:
		word = b.Op(ptx.Word32, "selp.u32", b.Op(ptx.Word32, "xor.b32", word, "1"), word, x)
	}
	return b.Op(ptx.Predicate, "setp.ne.u32", word, "0")
}

// choosePredicate returns x if p holds, and otherwise y.
func choosePredicate(b *ptx.Builder, p, x, y ptx.Register) ptx.Register {
	chosen := b.Op(ptx.Word32, "selp.u32", "1", "0", x)
	other := b.Op(ptx.Word32, "selp.u32", "1", "0", y)
	return b.Op(ptx.Predicate, "setp.ne.u32", b.Op(ptx.Word32, "selp.u32", chosen, other, p), "0")
}

// or returns the disjunction of two predicates.
func (l *lane) or(x, y ptx.Register) ptx.Register {
	if x == y {
		return x
	}
	return combine(l.b, "or", x, y)
}

// holds returns the predicate that a bool is true and not null.
func holds(b *ptx.Builder, v Value) ptx.Register {
	if v.Valid == "" || v.Valid == v.Registers[0] {
		return v.Registers[0]
	}
	return combine(b, "and", v.Registers[0], v.Valid)
}
