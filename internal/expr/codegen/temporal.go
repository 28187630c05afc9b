package codegen

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// castTemporal writes the steps of an exprtree.TemporalCast.
func (l *lane) castTemporal(n *exprtree.Node, x Value) Value {
	cast, ok := exprtree.TemporalCastOf(n.Arguments[0].Type, n.Type)
	if !ok {
		return l.fail(n)
	}
	from, to, signed := kindOf(n.Arguments[0].Type), kindOf(n.Type), kind{integer, 64, true}
	checked, valid := n.Op == exprtree.Cast, x.Valid
	v := l.convert(from, signed, x.Registers[0])
	if cast.Modulo != 0 {
		v = l.modulo(v, cast.Modulo)
	}
	if cast.Divide != 0 {
		v = l.floorDivide(v, cast.Divide)
	}
	if cast.Multiply != 0 {
		by := l.wide("mov.u64", hexadecimal(uint64(cast.Multiply)))
		high := l.wide("mul.hi.s64", v, by)
		v = l.wide("mul.lo.s64", v, by)
		if checked {
			valid = l.and(valid, l.predicate("setp.eq.s64", high, l.wide("shr.s64", v, "63")))
		}
	}
	if checked && cast.Least != math.MinInt64 {
		valid = l.and(valid, l.predicate("setp.ge.s64", v, number(int(cast.Least))))
	}
	if checked && cast.Most != math.MaxInt64 {
		valid = l.and(valid, l.predicate("setp.le.s64", v, number(int(cast.Most))))
	}
	return single(l.convert(signed, to, v), valid)
}

// floorDivide divides a signed number of 64 bits by a positive one and rounds down:
// ⌊v/d⌋ = ~⌊~v/d⌋ for negative v. A number of 63 bits is divided by a multiplication
// with ⌊2^(63+l)/d⌋ + 1 for 2^l >= d (Granlund and Montgomery 1994).
func (l *lane) floorDivide(v ptx.Register, d int64) ptx.Register {
	if d == 1 {
		return v
	}
	shift := bits.Len64(uint64(d - 1))
	multiplier := new(big.Int).Lsh(big.NewInt(1), uint(63+shift))
	multiplier.Div(multiplier, big.NewInt(d)).Add(multiplier, big.NewInt(1))
	sign := l.wide("shr.s64", v, "63")
	q := l.wide("mul.hi.u64", l.wide("xor.b64", v, sign), hexadecimal(multiplier.Uint64()))
	return l.wide("xor.b64", l.wide("shr.u64", q, number(shift-1)), sign)
}

// modulo writes the remainder of a division that rounds down, which is never negative.
func (l *lane) modulo(v ptx.Register, d int64) ptx.Register {
	product := l.wide("mul.lo.s64", l.floorDivide(v, d), hexadecimal(uint64(d)))
	return l.wide("sub.s64", v, product)
}

const daySeconds = 86_400

// instant is a register with a number of units; unit is the number of units per second,
// or 0 for days.
type instant struct {
	register ptx.Register
	unit     int64
}

// datePart writes a part of a date or of the clock, as int64.
func (l *lane) datePart(n *exprtree.Node) Value {
	x := l.value(n.Arguments[0])
	t := n.Arguments[0].Type
	if l.err != nil || !exprtree.IsTemporal(t) {
		return l.fail(n)
	}
	v := l.convert(kindOf(t), kind{integer, 64, true}, x.Registers[0])
	unit := exprtree.UnitOf(t)
	switch n.Op {
	case exprtree.Hour, exprtree.Minute, exprtree.Second, exprtree.Subsecond:
		if unit == 0 {
			return l.fail(n)
		}
		return single(l.clockPart(n.Op, v, unit, layout.Storage(t).ID() == arrow.TIMESTAMP), x.Valid)
	}
	instant := instant{x.Registers[0], unit}
	days, ok := l.days[instant]
	if !ok {
		days = v
		if unit != 0 {
			days = l.floorDivide(v, daySeconds*unit)
		}
		l.days[instant] = days
	}
	return single(l.calendarPart(n.Op, days), x.Valid)
}

// clockPart writes a part of the clock of a number of units; unit is the number of
// units per second.
func (l *lane) clockPart(op exprtree.Op, v ptx.Register, unit int64, ofDate bool) ptx.Register {
	switch op {
	case exprtree.Hour:
		hours := l.floorDivide(v, 3600*unit)
		if ofDate {
			return l.modulo(hours, 24)
		}
		return hours
	case exprtree.Minute:
		return l.modulo(l.floorDivide(v, 60*unit), 60)
	case exprtree.Second:
		return l.modulo(l.floorDivide(v, unit), 60)
	}
	return l.wide("mul.lo.s64", l.modulo(v, unit), hexadecimal(uint64(1_000_000_000/unit)))
}

func (l *lane) calendarPart(op exprtree.Op, days ptx.Register) ptx.Register {
	if op == exprtree.Weekday {
		return l.modulo(l.wide("add.s64", days, "3"), 7) // 1970-01-01 was a Thursday
	}
	civil, ok := l.civil[days]
	if !ok {
		civil = l.calls(word64, "gpuframe_civil", 2, days)
		l.civil[days] = civil
	}
	month := l.wide("and.b64", l.wide("shr.u64", civil[1], "8"), "0xff")
	switch op {
	case exprtree.Year:
		return civil[0]
	case exprtree.Quarter:
		// (month + 2) / 3; the multiplication with 86 is exact up to 14.
		return l.wide("shr.u64", l.wide("mul.lo.u64", l.wide("add.s64", month, "2"), "86"), "8")
	case exprtree.Month:
		return month
	case exprtree.Day:
		return l.wide("and.b64", civil[1], "0xff")
	}
	return l.wide("shr.u64", civil[1], "16")
}
