package codegen

import (
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// oneOf writes a binary search among the words of a literal. They are arguments, so all
// lanes read them from the constant cache.
func (l *lane) oneOf(n *exprtree.Node) Value {
	x, table := l.value(n.Arguments[0]), n.Arguments[1]
	if l.err != nil || table.Op != exprtree.Literal || table.Value == nil {
		return l.fail(n)
	}
	words := l.hashWords(kindOf(n.Arguments[0].Type), x)
	if len(words) != 1 {
		return l.fail(n)
	}
	b, word := l.b, words[0]
	at := b.Op(ptx.Word64, "mov.u64", "0")
	for step := 4 * l.g.shape.Literals[table.Slot].words(); step >= 8; step /= 2 {
		probe := b.Op(ptx.Word64, "add.s64", at, number(step))
		reaches := l.predicate("setp.le.u64", l.literalWord(table, probe), word)
		at = b.Op(ptx.Word64, "selp.b64", probe, at, reaches)
	}
	return single(l.predicate("setp.eq.u64", l.literalWord(table, at), word), x.Valid)
}

// tableRank writes a binary search for the first entry of a literal that is greater than a
// value: count entries are not.
func (l *lane) tableRank(n *exprtree.Node) Value {
	x, table := l.value(n.Arguments[0]), n.Arguments[1]
	if l.err != nil || table.Op != exprtree.Literal || table.Value == nil || len(x.Registers) != 1 {
		return l.fail(n)
	}
	count := l.wide("mov.u64", "0")
	probe := func(step int) {
		last := l.wide("add.s64", count, number(step-1))
		entry := l.wide("sub.s64", l.tableEntry(table, last), l.wide("mul.lo.s64", last, number(int(n.Constant))))
		reaches := l.predicate("setp.le.s64", entry, x.Registers[0])
		count = l.wide("selp.b64", l.wide("add.s64", count, number(step)), count, reaches)
	}
	for step := l.g.shape.Literals[table.Slot].words(); step > 0; step /= 2 {
		probe(step) // half of the entries first: a word has two
	}
	probe(1)
	return single(count, x.Valid)
}

// tableEntry loads entry i of a table of signed integers of 32 bits.
func (l *lane) tableEntry(table *exprtree.Node, i ptx.Register) ptx.Register {
	word := l.literalWord(table, l.wide("shl.b64", l.wide("shr.u64", i, "1"), "3"))
	// The entry moves to the upper half of the word: an even one is in the lower half.
	even := l.wide("xor.b64", l.wide("and.b64", i, "1"), "1")
	up := l.b.Op(ptx.Word32, "cvt.u32.u64", l.wide("shl.b64", even, "5"))
	return l.wide("shr.s64", l.b.Op(ptx.Word64, "shl.b64", word, up), "32")
}
