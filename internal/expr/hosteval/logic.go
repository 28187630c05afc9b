package hosteval

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// logic computes bools, 64 rows at a time. A null row has a zero bit in both isTrue and
// isFalse.
func (e *evaluation) logic(n *exprtree.Node) arrow.Array {
	x, xValid := e.truths(n.Arguments[0])
	if n.Op == exprtree.Not {
		return e.bools(func(row int) (uint64, uint64) { return ^x.word(row), xValid.word(row) })
	}
	y, yValid := e.truths(n.Arguments[1])
	switch n.Op {
	case exprtree.And:
		return e.bools(func(row int) (uint64, uint64) {
			xValid, yValid := xValid.word(row), yValid.word(row)
			isTrue := x.word(row) & xValid & y.word(row) & yValid
			isFalse := xValid&^x.word(row) | yValid&^y.word(row)
			return isTrue, isTrue | isFalse
		})
	case exprtree.Or:
		return e.bools(func(row int) (uint64, uint64) {
			xValid, yValid := xValid.word(row), yValid.word(row)
			isTrue := x.word(row)&xValid | y.word(row)&yValid
			isFalse := xValid &^ x.word(row) & yValid &^ y.word(row)
			return isTrue, isTrue | isFalse
		})
	case exprtree.AndStrict:
		return e.bools(func(row int) (uint64, uint64) {
			return x.word(row) & y.word(row), xValid.word(row) & yValid.word(row)
		})
	case exprtree.OrStrict:
		return e.bools(func(row int) (uint64, uint64) {
			return x.word(row) | y.word(row), xValid.word(row) & yValid.word(row)
		})
	}
	return e.bools(func(row int) (uint64, uint64) { // Xor
		return x.word(row) ^ y.word(row), xValid.word(row) & yValid.word(row)
	})
}

func (e *evaluation) nullness(n *exprtree.Node) arrow.Array {
	argument := n.Arguments[0]
	if argument.Kind() == exprtree.String && (argument.Type.ID() == arrow.DICTIONARY || argument.Op != exprtree.Column && argument.Op != exprtree.Literal) {
		text := e.text(argument) // the values of a dictionary may be null too
		return buildBools(e, func(i int) (bool, bool) {
			_, ok := text(i)
			return ok == (n.Op == exprtree.IsValid), true
		})
	}
	valid := bitmap{clear: argument.IsNullLiteral()}
	if argument.Op != exprtree.Literal {
		valid = validityOf(e.results[argument].Data())
	}
	var flip uint64
	if n.Op == exprtree.IsNull {
		flip = ^uint64(0)
	}
	return e.bools(func(row int) (uint64, uint64) { return valid.word(row) ^ flip, ^uint64(0) })
}
