package hosteval

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/exprtree"
)

func (e *evaluation) logic(n *exprtree.Node) arrow.Array {
	if f := bytewise[n.Op]; f != nil && n.Arguments[0].Op != exprtree.Literal && n.Arguments[1].Op != exprtree.Literal {
		return e.eights(n, f)
	}
	x := e.truths(n.Arguments[0])
	if n.Op == exprtree.Not {
		return buildBools(e, func(i int) (bool, bool) { return x.ok(i) && !x.at(i), x.ok(i) })
	}
	y := e.truths(n.Arguments[1])
	return buildBools(e, func(i int) (bool, bool) {
		left, right := x.ok(i) && x.at(i), y.ok(i) && y.at(i)
		both := x.ok(i) && y.ok(i)
		switch n.Op {
		case exprtree.AndStrict:
			return both && left && right, both
		case exprtree.OrStrict:
			return both && (left || right), both
		case exprtree.Xor:
			return both && left != right, both
		case exprtree.And:
			return left && right, both || x.ok(i) && !left || y.ok(i) && !right
		}
		return left || right, both || left || right
	})
}

func (e *evaluation) nullness(n *exprtree.Node) arrow.Array {
	argument := n.Arguments[0]
	if argument.Type.ID() == arrow.DICTIONARY && argument.Kind() == exprtree.String {
		text := e.text(argument) // whose values may be null too
		return buildBools(e, func(i int) (bool, bool) {
			_, ok := text(i)
			return ok == (n.Op == exprtree.IsValid), true
		})
	}
	valid := validity{nothing: argument.IsNullLiteral()}
	if argument.Op != exprtree.Literal {
		valid = validityOf(e.results[argument].Data())
	}
	return buildBools(e, func(i int) (bool, bool) { return valid.ok(i) == (n.Op == exprtree.IsValid), true })
}

// bytewise are the operations that take eight rows at a time.
var bytewise = map[exprtree.Op]func(x, y byte) byte{
	exprtree.AndStrict: func(x, y byte) byte { return x & y },
	exprtree.OrStrict:  func(x, y byte) byte { return x | y },
	exprtree.Xor:       func(x, y byte) byte { return x ^ y },
}

func (e *evaluation) eights(n *exprtree.Node, f func(x, y byte) byte) arrow.Array {
	left, right := e.results[n.Arguments[0]].Data(), e.results[n.Arguments[1]].Data()
	made := make([]byte, bitutil.BytesForBits(int64(e.rows)))
	if len(made) > 0 {
		x := validity{bits: left.Buffers()[1].Bytes(), offset: left.Offset()}
		y := validity{bits: right.Buffers()[1].Bytes(), offset: right.Offset()}
		for i := range made {
			made[i] = f(x.eight(8*i), y.eight(8*i))
		}
	}
	bits, nulls := intersect([]validity{validityOf(left), validityOf(right)}, e.rows)
	data := array.NewData(n.Type, e.rows, []*arrowmemory.Buffer{bits, arrowmemory.NewBufferBytes(made)}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}
