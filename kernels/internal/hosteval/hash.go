package hosteval

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

// hash takes one operand after the other into the hashes of all rows.
func (e *evaluation) hash(n *tree.Node) arrow.Array {
	hashes := make([]uint64, e.rows)
	for i := range hashes {
		hashes[i] = tree.HashSeed
	}
	for _, argument := range n.Arguments {
		e.hashOperand(hashes, argument)
	}
	return build(e, n.Type, func(i int) (uint64, bool) { return hashes[i], true })
}

func (e *evaluation) hashOperand(hashes []uint64, n *tree.Node) {
	switch n.Kind() {
	case tree.Bool:
		truths := e.truths(n)
		hashWords(hashes, truths, func(truth bool) uint64 {
			if truth {
				return 1
			}
			return 0
		})
	case tree.Int8:
		hashIntegers[int8](e, hashes, n)
	case tree.Int16:
		hashIntegers[int16](e, hashes, n)
	case tree.Int32:
		hashIntegers[int32](e, hashes, n)
	case tree.Int64:
		hashIntegers[int64](e, hashes, n)
	case tree.Uint8:
		hashIntegers[uint8](e, hashes, n)
	case tree.Uint16:
		hashIntegers[uint16](e, hashes, n)
	case tree.Uint32:
		hashIntegers[uint32](e, hashes, n)
	case tree.Uint64:
		hashIntegers[uint64](e, hashes, n)
	case tree.Float32:
		hashWords(hashes, laneOf[float32](e, n), func(v float32) uint64 { return tree.HashFloat(float64(v)) })
	case tree.Float64:
		hashWords(hashes, laneOf[float64](e, n), tree.HashFloat)
	case tree.Decimal:
		hashDecimals(hashes, laneOf[decimal128.Num](e, n))
	case tree.String:
		text := e.text(n)
		for i, h := range hashes {
			if value, ok := text(i); ok {
				hashes[i] = tree.HashBytes(h, value)
			} else {
				hashes[i] = tree.HashWord(h, tree.HashNull)
			}
		}
	}
}

func hashIntegers[T integer](e *evaluation, hashes []uint64, n *tree.Node) {
	hashWords(hashes, laneOf[T](e, n), func(v T) uint64 { return uint64(v) })
}

func hashWords[T any](hashes []uint64, values lane[T], word func(T) uint64) {
	for i, h := range hashes {
		if values.ok(i) {
			hashes[i] = tree.HashWord(h, word(values.at(i)))
		} else {
			hashes[i] = tree.HashWord(h, tree.HashNull)
		}
	}
}

func hashDecimals(hashes []uint64, values lane[decimal128.Num]) {
	for i, h := range hashes {
		if values.ok(i) {
			value := values.at(i)
			hashes[i] = tree.HashWord(tree.HashWord(h, value.LowBits()), uint64(value.HighBits()))
		} else {
			hashes[i] = tree.HashWord(h, tree.HashNull)
		}
	}
}
