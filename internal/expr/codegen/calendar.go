package codegen

import (
	"math"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// mostMonths limits the months that are added, so that no step exceeds 64 bits.
const mostMonths = 1 << 50

// moveInstant writes the operations that move a date or timestamp.
func (l *lane) moveInstant(n *exprtree.Node) Value {
	x := l.value(n.Arguments[0])
	if l.err != nil || !exprtree.IsTemporal(n.Type) {
		return l.fail(n)
	}
	k, day := kindOf(n.Type), exprtree.DayOf(n.Type)
	v := l.convert(k, kind{integer, 64, true}, x.Registers[0])
	switch n.Op {
	case exprtree.AddSpan:
		by := l.value(n.Arguments[1])
		moved, fits := l.scaleAndAdd(by.Registers[0], n.Constant, v)
		return l.instantOf(k, moved, l.and(l.and(x.Valid, by.Valid), fits))
	case exprtree.FloorSpan, exprtree.FloorWeek:
		span, origin := n.Constant, int64(0)
		if n.Op == exprtree.FloorWeek {
			span, origin = 7*day, 3*day // 1970-01-01 was a Thursday
		}
		// The remainder of v + origin, without a sum that may exceed 64 bits.
		rest := l.modulo(v, span)
		if origin != 0 {
			rest = l.modulo(l.wide("add.s64", rest, hexadecimal(uint64(origin))), span)
		}
		floor := l.wide("sub.s64", v, rest)
		return l.instantOf(k, floor, l.and(x.Valid, l.predicate("setp.le.s64", floor, v)))
	case exprtree.FloorMonths:
		days := l.call(word64, "gpuframe_floor_months", l.floorDivide(v, day), l.wide("mov.u64", number(int(n.Constant))))
		floor, fits := l.scaleAndAdd(days, day, l.wide("mov.u64", "0"))
		return l.instantOf(k, floor, l.and(x.Valid, fits))
	}
	months := l.value(n.Arguments[1])
	by := l.wide("max.s64", l.wide("min.s64", months.Registers[0], hexadecimal(mostMonths)), hexadecimal(-mostMonths&math.MaxUint64))
	known := l.predicate("setp.eq.s64", by, months.Registers[0])
	days := l.floorDivide(v, day)
	time := l.wide("sub.s64", v, l.wide("mul.lo.s64", days, hexadecimal(uint64(day))))
	moved, fits := l.scaleAndAdd(l.call(word64, "gpuframe_add_months", days, by), day, time)
	return l.instantOf(k, moved, l.and(l.and(x.Valid, months.Valid), l.and(known, fits)))
}

// scaleAndAdd writes v · factor + add in 128 bits, and the predicate that 64 hold it.
func (l *lane) scaleAndAdd(v ptx.Register, factor int64, add ptx.Register) (sum, fits ptx.Register) {
	by := l.wide("mov.u64", hexadecimal(uint64(factor)))
	low, high := l.wide("mul.lo.s64", v, by), l.wide("mul.hi.s64", v, by)
	sum = l.wide("add.s64", low, add)
	carry := l.b.Op(ptx.Word64, "selp.b64", "1", "0", l.predicate("setp.lt.u64", sum, low))
	high = l.wide("add.s64", high, l.wide("add.s64", l.wide("shr.s64", add, "63"), carry))
	return sum, l.predicate("setp.eq.s64", high, l.wide("shr.s64", sum, "63"))
}

// instantOf converts to the width of a type, with null for what it does not hold.
func (l *lane) instantOf(k kind, v, valid ptx.Register) Value {
	if k.bits == 32 {
		valid = l.and(valid, l.predicate("setp.ge.s64", v, number(math.MinInt32)))
		valid = l.and(valid, l.predicate("setp.le.s64", v, number(math.MaxInt32)))
	}
	return single(l.convert(kind{integer, 64, true}, k, v), valid)
}
