package aggregate

import "github.com/gpuframe/gpuframe/internal/ptx"

// Merge writes the merge of the partial of later rows into the registers of the partial
// of earlier rows.
func Merge(b *ptx.Builder, kind Kind, into, later []ptx.Register) {
	switch kind {
	case Count, CountTrue, SumInteger:
		b.Emit("add.s64 %s, %s, %s", into[0], into[0], later[0])
	case ProductInteger:
		b.Emit("mul.lo.s64 %s, %s, %s", into[0], into[0], later[0])
	case SumWide:
		b.Emit("add.cc.u64 %s, %s, %s", into[0], into[0], later[0])
		b.Emit("addc.u64 %s, %s, %s", into[1], into[1], later[1])
	case SumDecimal:
		b.Emit("add.cc.u64 %s, %s, %s", into[0], into[0], later[0])
		b.Emit("addc.cc.u64 %s, %s, %s", into[1], into[1], later[1])
		b.Emit("addc.u64 %s, %s, %s", into[2], into[2], later[2])
	case SumFloat:
		b.Emit("add.rn.f64 %s, %s, %s", into[0], into[0], later[0])
	case ProductFloat:
		b.Emit("mul.rn.f64 %s, %s, %s", into[0], into[0], later[0])
	case MinSigned, MaxSigned:
		b.Emit("%s.s64 %s, %s, %s", kind.extreme(), into[0], into[0], later[0])
	case MinUnsigned, MaxUnsigned:
		b.Emit("%s.u64 %s, %s, %s", kind.extreme(), into[0], into[0], later[0])
	case MinFloat, MaxFloat:
		b.Emit("%s.f64 %s, %s, %s", kind.extreme(), into[0], into[0], later[0])
	case MinWide, MaxWide:
		moveIf(b, lessWide(b, kind == MaxWide, later, into), into, later)
	case Moments:
		mergeMoments(b, into, later)
	default:
		moveIf(b, before(b, later, into), into, later)
	}
}

// mergeMoments is the update of Chan, Golub and LeVeque (1979). If one partial has no
// rows, the result is the other one.
func mergeMoments(b *ptx.Builder, into, later []ptx.Register) {
	earlierCount := b.Op(ptx.Word64, "cvt.rn.f64.u64", into[0])
	laterCount := b.Op(ptx.Word64, "cvt.rn.f64.u64", later[0])
	only := b.Op(ptx.Predicate, "setp.eq.u64", into[0], "0")
	none := b.Op(ptx.Predicate, "setp.eq.u64", later[0], "0")
	count := b.Op(ptx.Word64, "add.u64", into[0], later[0])
	total := b.Op(ptx.Word64, "cvt.rn.f64.u64", b.Op(ptx.Word64, "max.u64", count, "1"))
	part := divideWhole(b, laterCount, total)
	distance := b.Op(ptx.Word64, "sub.rn.f64", later[1], into[1])
	mean := b.Op(ptx.Word64, "add.rn.f64", into[1], b.Op(ptx.Word64, "mul.rn.f64", distance, part))
	between := b.Op(ptx.Word64, "mul.rn.f64",
		b.Op(ptx.Word64, "mul.rn.f64", distance, distance),
		b.Op(ptx.Word64, "mul.rn.f64", earlierCount, part))
	squares := b.Op(ptx.Word64, "add.rn.f64", b.Op(ptx.Word64, "add.rn.f64", into[2], later[2]), between)
	for i, merged := range []ptx.Register{1: mean, 2: squares} {
		if merged == "" {
			continue
		}
		merged = b.Op(ptx.Word64, "selp.b64", into[i], merged, none)
		b.Emit("selp.b64 %s, %s, %s, %s", into[i], later[i], merged, only)
	}
	b.Emit("mov.b64 %s, %s", into[0], count)
}
