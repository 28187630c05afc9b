package hosteval

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/text/textvalue"
)

// parse computes numbers and dates of strings.
func (e *evaluation) parse(n *exprtree.Node) arrow.Array {
	x := e.text(n.Arguments[0])
	switch {
	case n.Op == exprtree.ParseDate:
		return parsed(e, n, x, textvalue.Date)
	case n.Kind() == exprtree.Uint64:
		return parsed(e, n, x, func(text string) (uint64, bool) { return textvalue.Uint(text, 64) })
	}
	return parsed(e, n, x, func(text string) (int64, bool) { return textvalue.Int(text, 64) })
}

func parsed[T any](e *evaluation, n *exprtree.Node, x reader, f func(text string) (T, bool)) arrow.Array {
	return build(e, n.Type, func(i int) (value T, ok bool) {
		text, ok := x(i)
		if !ok {
			return value, false
		}
		return f(string(text))
	})
}
