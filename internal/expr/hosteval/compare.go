package hosteval

import (
	"bytes"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

func (e *evaluation) compare(n *exprtree.Node) arrow.Array {
	switch n.Arguments[0].Kind() {
	case exprtree.String:
		return e.compareStrings(n)
	case exprtree.Bool:
		return e.compareBools(n)
	}
	x, y := e.operand(n.Arguments[0]), e.operand(n.Arguments[1])
	if n.Op == exprtree.Greater || n.Op == exprtree.GreaterEqual {
		x, y = y, x
	}
	return e.compared(x, y, numberComparison(n.Op, n.Arguments[0].Kind()))
}

// numberComparison returns the loop of a comparison. Greater uses the loop of Less with
// exchanged operands. NaN equals itself and is greater than all numbers.
func numberComparison(op exprtree.Op, kind exprtree.Kind) comparisonLoop {
	switch {
	case kind == exprtree.Decimal:
		return decimalComparison(op)
	case op != exprtree.Equal && op != exprtree.NotEqual:
		return numbersOf(kind).order(op)
	case kind == exprtree.Float32:
		return floatEquality[float32](op)
	case kind == exprtree.Float64:
		return floatEquality[float64](op)
	}
	switch kind.Bits() { // for integers the sign is irrelevant
	case 8:
		return equality[uint8](op)
	case 16:
		return equality[uint16](op)
	case 32:
		return equality[uint32](op)
	}
	return equality[uint64](op)
}

func equality[T number](op exprtree.Op) comparisonLoop {
	if op == exprtree.Equal {
		return comparison(equalEach[T])
	}
	return comparison(notEqualEach[T])
}

func floatEquality[T float](op exprtree.Op) comparisonLoop {
	if op == exprtree.Equal {
		return comparison(compareEach(func(x, y T) bool { return x == y || x != x && y != y }))
	}
	return comparison(compareEach(func(x, y T) bool { return x != y && (x == x || y == y) }))
}

func (e *evaluation) compareBools(n *exprtree.Node) arrow.Array {
	x, xValid := e.truths(n.Arguments[0])
	y, yValid := e.truths(n.Arguments[1])
	truth := map[exprtree.Op]func(x, y uint64) uint64{
		exprtree.Equal:        func(x, y uint64) uint64 { return ^(x ^ y) },
		exprtree.NotEqual:     func(x, y uint64) uint64 { return x ^ y },
		exprtree.Less:         func(x, y uint64) uint64 { return ^x & y },
		exprtree.LessEqual:    func(x, y uint64) uint64 { return ^x | y },
		exprtree.Greater:      func(x, y uint64) uint64 { return x &^ y },
		exprtree.GreaterEqual: func(x, y uint64) uint64 { return x | ^y },
	}[n.Op]
	return e.bools(func(row int) (uint64, uint64) {
		return truth(x.word(row), y.word(row)), xValid.word(row) & yValid.word(row)
	})
}

func (e *evaluation) compareStrings(n *exprtree.Node) arrow.Array {
	if literal := n.Arguments[1]; literal.Op == exprtree.Literal && literal.Value != nil {
		wanted := []byte(literal.Value.(string))
		if holds := holdsWith(n.Op, wanted); holds != nil {
			return e.compareLiteral(n, wanted, holds)
		}
	}
	x, y := e.text(n.Arguments[0]), e.text(n.Arguments[1])
	holds := map[exprtree.Op]func(x, y []byte) bool{
		exprtree.Equal:        bytes.Equal,
		exprtree.NotEqual:     func(x, y []byte) bool { return !bytes.Equal(x, y) },
		exprtree.Less:         func(x, y []byte) bool { return bytes.Compare(x, y) < 0 },
		exprtree.LessEqual:    func(x, y []byte) bool { return bytes.Compare(x, y) <= 0 },
		exprtree.Greater:      func(x, y []byte) bool { return bytes.Compare(x, y) > 0 },
		exprtree.GreaterEqual: func(x, y []byte) bool { return bytes.Compare(x, y) >= 0 },
		exprtree.StartsWith:   bytes.HasPrefix,
		exprtree.EndsWith:     bytes.HasSuffix,
	}[n.Op]
	return buildBools(e, func(i int) (bool, bool) {
		left, ok := x(i)
		if !ok {
			return false, false
		}
		right, ok := y(i)
		return ok && holds(left, right), ok
	})
}

// compareLiteral compares texts with a literal.
func (e *evaluation) compareLiteral(n *exprtree.Node, literal []byte, holds func(rows *textRows) uint64) arrow.Array {
	x := n.Arguments[0]
	equal := e.equalsLiteral(x, literal)
	if equal == nil || n.Op != exprtree.Equal && n.Op != exprtree.NotEqual {
		return e.buildTruths(x, holds)
	}
	flip := uint64(0)
	if n.Op == exprtree.NotEqual {
		flip = ^flip
	}
	read := e.textReader(x)
	return e.bools(func(row int) (truths, valid uint64) {
		rows := min(64, e.rows-row)
		if truths, ok := equal(row, rows); ok {
			return truths ^ flip, ^uint64(0)
		}
		var texts textRows // records the offsets that are invalid
		read(&texts, row, rows)
		return holds(&texts), texts.valid
	})
}

// holdsWith returns a comparison of texts with a literal, or nil for other operations.
func holdsWith(op exprtree.Op, literal []byte) func(rows *textRows) uint64 {
	switch op {
	case exprtree.Equal:
		return equalTexts(literal)
	case exprtree.NotEqual:
		equal := equalTexts(literal)
		return func(rows *textRows) uint64 { return ^equal(rows) }
	case exprtree.StartsWith:
		return eachText(func(text []byte) bool { return bytes.HasPrefix(text, literal) })
	case exprtree.EndsWith:
		return eachText(func(text []byte) bool { return bytes.HasSuffix(text, literal) })
	}
	return nil
}

func (e *evaluation) isNaN(n *exprtree.Node) arrow.Array {
	x := e.operand(n.Arguments[0])
	if n.Arguments[0].Kind() == exprtree.Float32 {
		return e.compared(x, x, comparison(notEqualEach[float32]))
	}
	return e.compared(x, x, comparison(notEqualEach[float64]))
}
