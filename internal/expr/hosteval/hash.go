package hosteval

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// hash adds the operands in order to the hashes of all rows.
func (e *evaluation) hash(n *exprtree.Node) arrow.Array {
	hashes := make([]uint64, e.rows)
	for i := range hashes {
		hashes[i] = exprtree.HashSeed
	}
	for _, argument := range n.Arguments {
		e.hashOperand(hashes, argument)
	}
	return build(e, n.Type, func(i int) (uint64, bool) { return hashes[i], true })
}

func (e *evaluation) hashOperand(hashes []uint64, n *exprtree.Node) {
	switch n.Kind() {
	case exprtree.Bool:
		truths := e.boolsOf(n)
		hashWords(hashes, truths, func(truth bool) uint64 {
			if truth {
				return 1
			}
			return 0
		})
	case exprtree.Int8, exprtree.Int16, exprtree.Int32, exprtree.Int64, exprtree.Uint8, exprtree.Uint16, exprtree.Uint32, exprtree.Uint64:
		e.hashIntegers(hashes, n)
	case exprtree.Float32:
		hashWords(hashes, laneOf[float32](e, n), func(v float32) uint64 { return exprtree.HashFloat(float64(v)) })
	case exprtree.Float64:
		hashWords(hashes, laneOf[float64](e, n), exprtree.HashFloat)
	case exprtree.Decimal:
		hashDecimals(hashes, laneOf[decimal128.Num](e, n))
	case exprtree.String:
		text := e.text(n)
		for i, h := range hashes {
			if value, ok := text(i); ok {
				hashes[i] = exprtree.HashBytes(h, value)
			} else {
				hashes[i] = exprtree.HashWord(h, exprtree.HashNull)
			}
		}
	}
}

func (e *evaluation) hashIntegers(hashes []uint64, n *exprtree.Node) {
	x, widen := e.operand(n), lowBits(n.Kind(), 64)
	var words [64]uint64
	for row := 0; row < e.rows; row += 64 {
		rows := min(64, e.rows-row)
		widen(address.BytesOf(words[:rows]), x.rows(row, rows))
		valid := x.valid.word(row)
		for i, word := range words[:rows] {
			if valid>>i&1 == 0 {
				word = exprtree.HashNull
			}
			hashes[row+i] = exprtree.HashWord(hashes[row+i], word)
		}
	}
}

func hashWords[T any](hashes []uint64, values lane[T], word func(T) uint64) {
	for i, h := range hashes {
		if values.ok(i) {
			hashes[i] = exprtree.HashWord(h, word(values.at(i)))
		} else {
			hashes[i] = exprtree.HashWord(h, exprtree.HashNull)
		}
	}
}

func hashDecimals(hashes []uint64, values lane[decimal128.Num]) {
	for i, h := range hashes {
		if values.ok(i) {
			value := values.at(i)
			hashes[i] = exprtree.HashWord(exprtree.HashWord(h, value.LowBits()), uint64(value.HighBits()))
		} else {
			hashes[i] = exprtree.HashWord(h, exprtree.HashNull)
		}
	}
}
