package hosteval

import (
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// cases are the conditions of an IfElse, and its values by number: that of each condition, and the last one.
type cases struct {
	truth, valid []bitmap
	values       []*exprtree.Node
}

func (e *evaluation) cases(n *exprtree.Node) cases {
	var c cases
	last := len(n.Arguments) - 1
	for i := 0; i < last; i += 2 {
		truth, valid := e.truths(n.Arguments[i])
		c.truth, c.valid, c.values = append(c.truth, truth), append(c.valid, valid), append(c.values, n.Arguments[i+1])
	}
	c.values = append(c.values, n.Arguments[last])
	return c
}

// choose calls f for each value that some of 64 rows from a row have, with a bit for each of these rows. Rows whose
// condition is null are in none of them.
func (c cases) choose(row, rows int, f func(value int, rows uint64)) {
	rest := below(rows, row)
	for i := range c.truth {
		valid := c.valid[i].word(row)
		if chosen := rest & valid & c.truth[i].word(row); chosen != 0 {
			f(i, chosen)
			rest &^= chosen
		}
		if rest &= valid; rest == 0 {
			return
		}
	}
	f(len(c.truth), rest)
}

// ifElse computes a choice of values of a fixed width.
func (e *evaluation) ifElse(n *exprtree.Node) arrow.Array {
	c := e.cases(n)
	switch n.Kind().Bits() {
	case 1:
		return e.boolCases(c)
	case 8:
		return casesOf[uint8](e, n.Type, c)
	case 16:
		return casesOf[uint16](e, n.Type, c)
	case 32:
		return casesOf[uint32](e, n.Type, c)
	case 64:
		return casesOf[uint64](e, n.Type, c)
	}
	return casesOf[decimal128.Num](e, n.Type, c)
}

func casesOf[T any](e *evaluation, t arrow.DataType, c cases) arrow.Array {
	lanes := lanesOf[T](e, c.values)
	values, validity, valid := make([]T, e.rows), newWords(e.rows), 0
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		for row := first; row < min(first+blockRows, e.rows); row += 64 {
			var ok uint64
			c.choose(row, e.rows, func(value int, rows uint64) {
				l := lanes[value]
				rows &= l.valid.word(row)
				ok |= rows
				for ; rows != 0; rows &= rows - 1 {
					i := row + bits.TrailingZeros64(rows)
					values[i] = l.at(i)
				}
			})
			validity.set(row, ok)
			valid += bits.OnesCount64(ok)
		}
	}
	nulls := nullBits{count: e.rows - valid}
	if nulls.count > 0 {
		nulls.bits = validity
	}
	return nulls.array(t, e.rows, address.BytesOf(values))
}

func (e *evaluation) boolCases(c cases) arrow.Array {
	truths, valid := make([]bitmap, len(c.values)), make([]bitmap, len(c.values))
	for i, n := range c.values {
		truths[i], valid[i] = e.truths(n)
	}
	return e.bools(func(row int) (truth, ok uint64) {
		c.choose(row, e.rows, func(value int, rows uint64) {
			rows &= valid[value].word(row)
			ok |= rows
			truth |= rows & truths[value].word(row)
		})
		return truth, ok
	})
}

// textCases computes a choice of strings. readers has one for each value.
func (e *evaluation) textCases(n *exprtree.Node, readers []reader) [][]byte {
	c := e.cases(n)
	texts := make([][]byte, e.rows)
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		for row := first; row < min(first+blockRows, e.rows); row += 64 {
			c.choose(row, e.rows, func(value int, rows uint64) {
				for ; rows != 0; rows &= rows - 1 {
					i := row + bits.TrailingZeros64(rows)
					if text, ok := readers[value](i); ok {
						texts[i] = textOf(text)
					}
				}
			})
		}
	}
	return texts
}

// coalesceBools is the first of the operands that is not null.
func (e *evaluation) coalesceBools(from []*exprtree.Node) arrow.Array {
	truths, valid := make([]bitmap, len(from)), make([]bitmap, len(from))
	for i, n := range from {
		truths[i], valid[i] = e.truths(n)
	}
	return e.bools(func(row int) (truth, ok uint64) {
		for i := range truths {
			chosen := valid[i].word(row) &^ ok
			ok |= chosen
			truth |= chosen & truths[i].word(row)
		}
		return truth, ok
	})
}
