package hosteval

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

func (e *evaluation) logic(n *tree.Node) arrow.Array {
	if f := bytewise[n.Op]; f != nil && n.Arguments[0].Op != tree.Literal && n.Arguments[1].Op != tree.Literal {
		return e.eights(n, f)
	}
	x := e.truths(n.Arguments[0])
	if n.Op == tree.Not {
		return buildBools(e, func(i int) (bool, bool) { return x.ok(i) && !x.at(i), x.ok(i) })
	}
	y := e.truths(n.Arguments[1])
	return buildBools(e, func(i int) (bool, bool) {
		left, right := x.ok(i) && x.at(i), y.ok(i) && y.at(i)
		both := x.ok(i) && y.ok(i)
		switch n.Op {
		case tree.AndStrict:
			return both && left && right, both
		case tree.OrStrict:
			return both && (left || right), both
		case tree.Xor:
			return both && left != right, both
		case tree.And:
			return left && right, both || x.ok(i) && !left || y.ok(i) && !right
		}
		return left || right, both || left || right
	})
}

func (e *evaluation) nullness(n *tree.Node) arrow.Array {
	argument := n.Arguments[0]
	if argument.Type.ID() == arrow.DICTIONARY && argument.Kind() == tree.String {
		text := e.text(argument) // whose values may be null too
		return buildBools(e, func(i int) (bool, bool) {
			_, ok := text(i)
			return ok == (n.Op == tree.IsValid), true
		})
	}
	valid := validity{nothing: argument.IsNullLiteral()}
	if argument.Op != tree.Literal {
		valid = validityOf(e.results[argument].Data())
	}
	return buildBools(e, func(i int) (bool, bool) { return valid.ok(i) == (n.Op == tree.IsValid), true })
}

// bytewise are the operations that take eight rows at a time.
var bytewise = map[tree.Op]func(x, y byte) byte{
	tree.AndStrict: func(x, y byte) byte { return x & y },
	tree.OrStrict:  func(x, y byte) byte { return x | y },
	tree.Xor:       func(x, y byte) byte { return x ^ y },
}

func (e *evaluation) eights(n *tree.Node, f func(x, y byte) byte) arrow.Array {
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
