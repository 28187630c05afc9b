package codegen

import (
	"github.com/gpuframe/gpuframe/internal/exprtree"
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
	return one(l.predicate("setp.eq.u64", l.literalWord(table, at), word), x.Valid)
}
