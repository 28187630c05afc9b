package codegen

import (
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// textCompare writes a comparison of strings by their bytes.
func (l *lane) textCompare(n *exprtree.Node) Value {
	x, y, op := n.Arguments[0], n.Arguments[1], n.Op
	if x.Op == exprtree.Literal {
		x, y, op = y, x, mirrored(op) // the literal comes second
	}
	a := l.value(x)
	switch {
	case l.err != nil || x.Op == exprtree.Literal || kindOf(x.Type).family != text:
		return l.fail(n)
	case y.IsNullLiteral():
		never := l.never()
		return single(never, never)
	case y.Op == exprtree.Literal:
		return single(l.comparesLiteral(op, a, y), a.Valid)
	}
	b := l.value(y)
	if l.err != nil || kindOf(y.Type).family != text {
		return l.fail(n)
	}
	valid := l.and(a.Valid, b.Valid)
	switch op {
	case exprtree.Equal:
		return single(l.textsEqual(a, b, valid), valid)
	case exprtree.NotEqual:
		return single(l.not(l.textsEqual(a, b, valid)), valid)
	}
	return single(l.predicate("setp."+comparisons[op]+".s64", l.textOrder(a, b, valid), "0"), valid)
}

// mirrored returns the comparison with its sides exchanged.
func mirrored(op exprtree.Op) exprtree.Op {
	switch op {
	case exprtree.Less:
		return exprtree.Greater
	case exprtree.LessEqual:
		return exprtree.GreaterEqual
	case exprtree.Greater:
		return exprtree.Less
	case exprtree.GreaterEqual:
		return exprtree.LessEqual
	}
	return op
}

// comparesLiteral compares a string with a literal.
func (l *lane) comparesLiteral(op exprtree.Op, a Value, literal *exprtree.Node) ptx.Register {
	switch op {
	case exprtree.Equal, exprtree.StartsWith, exprtree.EndsWith:
		return l.equalsLiteral(op, a, literal)
	case exprtree.NotEqual:
		return l.not(l.equalsLiteral(exprtree.Equal, a, literal))
	}
	return l.predicate("setp."+comparisons[op]+".s64", l.literalOrder(a, literal), "0")
}

// literalWord loads a word of a literal's bytes, from a position in a register that is a
// multiple of eight.
func (l *lane) literalWord(literal *exprtree.Node, at ptx.Register) ptx.Register {
	source := l.b.Op(ptx.Word64, "mov.u64", ptx.Register(l.g.parameter))
	address := l.b.Op(ptx.Word64, "add.s64", source, at)
	return l.b.Op(ptx.Word64, "ld.param.u64", "["+address+"+"+number(8*(l.g.positions.literals[literal.Slot]+1))+"]")
}

// literalOrder compares a string with a literal: -1, 0 or 1. The words of both are filled
// up with zeros, so words that differ order the strings, and otherwise the lengths do.
func (l *lane) literalOrder(a Value, literal *exprtree.Node) ptx.Register {
	b := l.b
	bytes, wanted := a.Registers[1], b.Op(ptx.Word64, "ld.param.u64", l.g.word(l.g.positions.literals[literal.Slot]))
	above := b.Op(ptx.Word64, "selp.b64", "1", "0", l.predicate("setp.gt.s64", bytes, wanted))
	order := b.Op(ptx.Word64, "selp.b64", "-1", above, l.predicate("setp.lt.s64", bytes, wanted))
	shorter := b.Op(ptx.Word64, "min.s64", bytes, wanted)
	at := b.Op(ptx.Word64, "mov.u64", "0")
	loop, next, done := b.Label(), b.Label(), b.Label()
	if a.Valid != "" {
		b.Branch("!"+a.Valid, done)
	}
	b.Place(loop)
	b.Branch(l.predicate("setp.ge.s64", at, shorter), done)
	got := l.call(word64, "gpuframe_text_word", b.Op(ptx.Word64, "add.s64", a.Registers[0], at),
		b.Op(ptx.Word64, "sub.s64", bytes, at), a.Registers[2], a.Registers[3])
	expected := l.literalWord(literal, at)
	b.Branch(l.predicate("setp.eq.u64", got, expected), next)
	b.Move("mov.u64", order, l.call(word64, "gpuframe_text_word_order", got, expected))
	b.Branch("", done)
	b.Place(next)
	b.Move("add.s64", at, at, "8")
	b.Branch("", loop)
	b.Place(done)
	return order
}

// textOrder compares two strings from columns: -1, 0 or 1.
func (l *lane) textOrder(x, y Value, valid ptx.Register) ptx.Register {
	b := l.b
	order := b.Op(ptx.Word64, "mov.u64", "0")
	done := b.Label()
	if valid != "" {
		b.Branch("!"+valid, done)
	}
	b.Move("mov.u64", order, l.call(word64, "gpuframe_text_order", x.Registers[0], x.Registers[1], y.Registers[0], y.Registers[1],
		x.Registers[2], x.Registers[3], y.Registers[2], y.Registers[3]))
	b.Place(done)
	return order
}

// equalsLiteral compares the string, its beginning or its end with a literal among the
// arguments. Most strings differ in the length or in the first words.
func (l *lane) equalsLiteral(op exprtree.Op, a Value, literal *exprtree.Node) ptx.Register {
	b := l.b
	address, bytes := a.Registers[0], a.Registers[1]
	word := l.g.positions.literals[literal.Slot]
	wanted := b.Op(ptx.Word64, "ld.param.u64", l.g.word(word))
	test := map[bool]string{true: "setp.ge.s64", false: "setp.eq.s64"}[op == exprtree.StartsWith || op == exprtree.EndsWith]
	equal := l.and(l.predicate(test, bytes, wanted), a.Valid)
	if op == exprtree.EndsWith {
		address = b.Op(ptx.Word64, "add.s64", address, b.Op(ptx.Word64, "sub.s64", bytes, wanted))
	}
	return l.matchesLiteral(address, a, literal, 0, equal)
}

// matchesLiteral compares the bytes at an address in a string with the words of a
// literal, from one of them on, if a predicate holds. There are as many bytes.
func (l *lane) matchesLiteral(address ptx.Register, operand Value, literal *exprtree.Node, first int, equal ptx.Register) ptx.Register {
	b, begin, end := l.b, operand.Registers[2], operand.Registers[3]
	word := l.g.positions.literals[literal.Slot]
	wanted := b.Op(ptx.Word64, "ld.param.u64", l.g.word(word))
	// The result is a register that changes in the loop.
	result := b.Register(ptx.Predicate)
	b.Move("mov.pred", result, equal)
	done := b.Label()
	left := b.Op(ptx.Word64, "sub.s64", wanted, number(8*first))
	words := l.g.shape.Literals[literal.Slot].words()
	compare := func(i ptx.Register, expected ptx.Register) {
		got := l.call(word64, "gpuframe_text_word", b.Op(ptx.Word64, "add.s64", address, i), left, begin, end)
		b.Move("setp.eq.u64", result, got, expected)
	}
	if words-first <= 2 {
		for i := first; i < words; i++ {
			b.Branch("!"+result, done)
			b.Branch(l.predicate("setp.le.s64", left, "0"), done)
			compare(number(8*i), b.Op(ptx.Word64, "ld.param.u64", l.g.word(word+1+i)))
			b.Move("sub.s64", left, left, "8")
		}
		b.Place(done)
		return result
	}
	at := b.Op(ptx.Word64, "mov.u64", number(8*first))
	loop := b.Label()
	b.Place(loop)
	b.Branch("!"+result, done)
	b.Branch(l.predicate("setp.le.s64", left, "0"), done)
	compare(at, l.literalWord(literal, at))
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
