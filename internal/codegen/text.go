package codegen

import (
	"github.com/gpuframe/gpuframe/internal/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// textCompare writes a comparison of strings by their bytes.
func (l *lane) textCompare(n *exprtree.Node) Value {
	x, y := n.Arguments[0], n.Arguments[1]
	if x.Op == exprtree.Literal {
		x, y = y, x // the column comes first; Equal and NotEqual are symmetric
	}
	a := l.value(x)
	valid := a.Valid
	var equal ptx.Register
	switch {
	case l.err != nil || x.Op != exprtree.Column || kindOf(x.Type).family != text:
		return l.fail(n)
	case y.IsNullLiteral():
		never := l.never()
		return one(never, never)
	case y.Op == exprtree.Literal:
		equal = l.equalsLiteral(n.Op, a, y)
	default:
		b := l.value(y)
		if l.err != nil || kindOf(y.Type).family != text {
			return l.fail(n)
		}
		valid = l.and(valid, b.Valid)
		equal = l.textsEqual(a, b, valid)
	}
	if n.Op == exprtree.NotEqual {
		equal = l.not(equal)
	}
	return one(equal, valid)
}

// equalsLiteral compares the string, its beginning or its end with a literal among the
// arguments. Most strings differ in the length or in the first words.
func (l *lane) equalsLiteral(op exprtree.Op, a Value, literal *exprtree.Node) ptx.Register {
	b := l.b
	address, bytes, begin, end := a.Registers[0], a.Registers[1], a.Registers[2], a.Registers[3]
	word := l.g.positions.literals[literal.Slot]
	wanted := b.Op(ptx.Word64, "ld.param.u64", l.g.word(word))
	test := map[bool]string{true: "setp.ge.s64", false: "setp.eq.s64"}[op == exprtree.StartsWith || op == exprtree.EndsWith]
	equal := l.and(l.predicate(test, bytes, wanted), a.Valid)
	if op == exprtree.EndsWith {
		address = b.Op(ptx.Word64, "add.s64", address, b.Op(ptx.Word64, "sub.s64", bytes, wanted))
	}
	// The result is a register that changes in the loop.
	result := b.Register(ptx.Predicate)
	b.Move("mov.pred", result, equal)
	done := b.Label()
	left := b.Op(ptx.Word64, "mov.u64", wanted)
	words := l.g.shape.Literals[literal.Slot].words()
	l.g.functions["gpuframe_text_word"] = true
	compare := func(i ptx.Register, expected ptx.Register) {
		got := l.call(word64, "gpuframe_text_word", b.Op(ptx.Word64, "add.s64", address, i), left, begin, end)
		b.Move("setp.eq.u64", result, got, expected)
	}
	if words <= 2 {
		for i := range words {
			b.Branch("!"+result, done)
			b.Branch(l.predicate("setp.le.s64", left, "0"), done)
			compare(number(8*i), b.Op(ptx.Word64, "ld.param.u64", l.g.word(word+1+i)))
			b.Move("sub.s64", left, left, "8")
		}
		b.Place(done)
		return result
	}
	at := b.Op(ptx.Word64, "mov.u64", "0")
	source := b.Op(ptx.Word64, "mov.u64", ptx.Register(l.g.parameter))
	loop := b.Label()
	b.Place(loop)
	b.Branch("!"+result, done)
	b.Branch(l.predicate("setp.le.s64", left, "0"), done)
	compare(at, b.Op(ptx.Word64, "ld.param.u64", "["+b.Op(ptx.Word64, "add.s64", source, at)+ptx.Register("+")+number(8*(word+1))+"]"))
	b.Move("sub.s64", left, left, "8")
	b.Move("add.s64", at, at, "8")
	b.Branch("", loop)
	b.Place(done)
	return result
}

// textsEqual compares two strings from columns.
func (l *lane) textsEqual(x, y Value, valid ptx.Register) ptx.Register {
	b := l.b
	result := b.Register(ptx.Predicate)
	done := b.Label()
	b.Move("mov.pred", result, l.and(l.predicate("setp.eq.s64", x.Registers[1], y.Registers[1]), valid))
	b.Branch("!"+result, done)
	equal := l.call(word64, "gpuframe_text_equal", x.Registers[0], y.Registers[0], x.Registers[1],
		x.Registers[2], x.Registers[3], y.Registers[2], y.Registers[3])
	b.Move("setp.ne.u64", result, equal, "0")
	b.Place(done)
	return result
}
