package codegen

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// textFunctions are the functions of a string that give an integer, in library.cu.
var textFunctions = map[exprtree.Op]string{
	exprtree.LengthChars: "gpuframe_text_chars", exprtree.SpaceStart: "gpuframe_text_space_start", exprtree.SpaceEnd: "gpuframe_text_space_end",
}

// textMeasure writes an operation that gives a length or a position in a string.
func (l *lane) textMeasure(n *exprtree.Node) Value {
	x := l.value(n.Arguments[0])
	if l.err != nil || kindOf(n.Arguments[0].Type).family != text {
		return l.fail(n)
	}
	switch n.Op {
	case exprtree.LengthBytes:
		return single(x.Registers[1], x.Valid)
	case exprtree.TextPlace:
		source := l.wide("shl.b64", l.wide("mov.u64", x.Registers[4]), "56")
		// The position may be anything if the offsets are unsound.
		from := l.wide("and.b64", l.wide("sub.s64", l.wide("mov.u64", x.Registers[0]), x.Registers[2]), "0x00ffffffffffffff")
		return single(l.wide("or.b64", source, from), x.Valid)
	case exprtree.CharOffset:
		position := l.value(n.Arguments[1])
		at := l.call(word64, "gpuframe_text_char_offset", x.Registers[0], x.Registers[1], position.Registers[0], x.Registers[2], x.Registers[3])
		return single(at, l.and(x.Valid, position.Valid))
	case exprtree.Seek:
		return l.seek(n, x)
	case exprtree.ParseInteger:
		k := kindOf(n.Type)
		signed := l.wide("mov.u64", map[bool]ptx.Register{true: "1", false: "0"}[k.signed])
		parsed := l.calls(word64, "gpuframe_text_parse_integer", 2, x.Registers[0], x.Registers[1], signed, x.Registers[2], x.Registers[3])
		return single(parsed[0], l.and(x.Valid, l.predicate("setp.ne.u64", parsed[1], "0")))
	case exprtree.ParseDate:
		parsed := l.calls(word64, "gpuframe_text_parse_date", 2, x.Registers[:4]...)
		days := l.convert(kind{integer, 64, true}, kindOf(n.Type), parsed[0])
		return single(days, l.and(x.Valid, l.predicate("setp.ne.u64", parsed[1], "0")))
	}
	return single(l.call(word64, textFunctions[n.Op], x.Registers[:4]...), x.Valid)
}

// byteRange writes a part of a string: it has the same bytes in memory.
func (l *lane) byteRange(n *exprtree.Node) Value {
	x, begin, end := l.value(n.Arguments[0]), l.value(n.Arguments[1]), l.value(n.Arguments[2])
	if l.err != nil || kindOf(n.Arguments[0].Type).family != text {
		return l.fail(n)
	}
	bytes := x.Registers[1]
	first := l.wide("max.s64", l.wide("min.s64", begin.Registers[0], bytes), "0")
	last := l.wide("max.s64", l.wide("min.s64", end.Registers[0], bytes), first)
	return Value{
		Registers: []ptx.Register{l.wide("add.s64", first, x.Registers[0]), l.wide("sub.s64", last, first), x.Registers[2], x.Registers[3], x.Registers[4]},
		Valid:     l.and(x.Valid, l.and(begin.Valid, end.Valid)),
	}
}

// seek writes the search for a literal. A function finds where the first eight bytes
// are; longer literals are compared there.
func (l *lane) seek(n *exprtree.Node, x Value) Value {
	b, literal, from := l.b, n.Arguments[1], l.value(n.Arguments[2])
	if l.err != nil || literal.Op != exprtree.Literal || literal.Value == nil {
		return l.fail(n)
	}
	word := l.g.positions.literals[literal.Slot]
	wanted, first := l.loads.word(word), l.loads.word(word+1)
	search := func(from ptx.Register) ptx.Register {
		return l.call(word64, "gpuframe_text_seek", x.Registers[0], x.Registers[1], from, first, wanted, x.Registers[2], x.Registers[3])
	}
	valid := l.and(x.Valid, from.Valid)
	position := b.Op(ptx.Word64, "mov.u64", from.Registers[0])
	if l.g.shape.Literals[literal.Slot].words() == 1 {
		b.Move("mov.u64", position, search(position))
	} else {
		loop, done := b.Label(), b.Label()
		b.Place(loop)
		b.Move("mov.u64", position, search(position))
		b.Branch(l.predicate("setp.lt.s64", position, "0"), done)
		address := b.Op(ptx.Word64, "add.s64", x.Registers[0], position)
		b.Branch(l.matchesLiteral(address, x, literal, 1, l.predicate("setp.eq.u32", "0", "0")), done)
		b.Move("add.s64", position, position, "1")
		b.Branch("", loop)
		b.Place(done)
	}
	behind := b.Op(ptx.Word64, "add.s64", position, wanted)
	return single(b.Op(ptx.Word64, "selp.b64", "-1", behind, l.predicate("setp.lt.s64", position, "0")), valid)
}

// like writes the matching of a pattern with characters that may be any. The position
// after the last LikeMany and the byte at which it matches nothing more are kept; if the
// rest does not match, it matches one byte more. The units of the pattern are arguments.
func (l *lane) like(n *exprtree.Node) Value {
	x, literal := l.value(n.Arguments[0]), n.Arguments[1]
	if l.err != nil || literal.Op != exprtree.Literal || literal.Value == nil || n.Arguments[0].Op == exprtree.Literal {
		return l.fail(n)
	}
	b, word := l.b, l.g.positions.literals[literal.Slot]
	source, size := b.Op(ptx.Word64, "mov.u64", ptx.Register(l.g.parameter)), b.Op(ptx.Word64, "ld.param.u64", l.g.word(word))
	bytes := l.wide("min.u64", x.Registers[1], l.wide("sub.s64", x.Registers[3], x.Registers[2]))
	at, unit := b.Op(ptx.Word64, "mov.u64", "0"), b.Op(ptx.Word64, "mov.u64", "0")
	again, mark := b.Op(ptx.Word64, "mov.u64", "-1"), b.Op(ptx.Word64, "mov.u64", "0")
	result := b.Register(ptx.Predicate)
	b.Move("setp.ne.u32", result, "0", "0")
	loop, differs, behind, literalByte, skip, rest, done := b.Label(), b.Label(), b.Label(), b.Label(), b.Label(), b.Label(), b.Label()
	code := func() ptx.Register {
		from := l.wide("add.s64", source, unit)
		return b.Op(ptx.Word32, "ld.param.u16", ptx.Register(fmt.Sprintf("[%s+%d]", from, 8*(word+1))))
	}
	byteAt := func() ptx.Register {
		return l.call(word64, "gpuframe_text_word", l.wide("add.s64", x.Registers[0], at), "1", x.Registers[2], x.Registers[3])
	}
	if x.Valid != "" {
		b.Branch("!"+x.Valid, done)
	}
	b.Place(loop)
	b.Branch(l.predicate("setp.ge.u64", at, bytes), behind)
	b.Branch(l.predicate("setp.ge.u64", unit, size), differs)
	expected := code()
	b.Branch(l.predicate("setp.lt.u32", expected, number(exprtree.LikeOne)), literalByte)
	b.Move("add.s64", unit, unit, "2")
	b.Branch(l.predicate("setp.eq.u32", expected, number(exprtree.LikeOne)), skip)
	b.Move("mov.u64", again, unit) // LikeMany
	b.Move("mov.u64", mark, at)
	b.Branch("", loop)

	b.Place(literalByte)
	b.Branch(l.predicate("setp.ne.u64", byteAt(), b.Op(ptx.Word64, "cvt.u64.u32", expected)), differs)
	b.Move("add.s64", unit, unit, "2")
	b.Move("add.s64", at, at, "1")
	b.Branch("", loop)

	b.Place(skip) // a character begins here, and ends before the next one
	b.Branch(l.continues(byteAt()), differs)
	b.Place(rest)
	b.Move("add.s64", at, at, "1")
	b.Branch(l.predicate("setp.ge.u64", at, bytes), loop)
	b.Branch(l.continues(byteAt()), rest)
	b.Branch("", loop)

	b.Place(differs)
	b.Branch(l.predicate("setp.lt.s64", again, "0"), done)
	b.Move("add.s64", mark, mark, "1")
	b.Move("mov.u64", at, mark)
	b.Move("mov.u64", unit, again)
	b.Branch("", loop)

	b.Place(behind) // only LikeMany may follow
	b.Move("setp.ge.u64", result, unit, size)
	b.Branch(result, done)
	b.Branch(l.predicate("setp.ne.u32", code(), number(exprtree.LikeMany)), done)
	b.Move("add.s64", unit, unit, "2")
	b.Branch("", behind)
	b.Place(done)
	return single(result, x.Valid)
}

// continues returns the predicate that a byte does not begin a character.
func (l *lane) continues(value ptx.Register) ptx.Register {
	return l.predicate("setp.eq.u64", l.wide("and.b64", value, "0xc0"), "0x80")
}
