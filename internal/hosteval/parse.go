package hosteval

import (
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/exprtree"
)

// parse computes numbers and dates of strings.
func (e *evaluation) parse(n *exprtree.Node) arrow.Array {
	x := e.text(n.Arguments[0])
	switch {
	case n.Op == exprtree.ParseDate:
		return parsed(e, n, x, func(text string) (int32, bool) {
			at, err := time.Parse(time.DateOnly, text)
			return int32(at.Unix() / 86_400), err == nil && len(text) == len(time.DateOnly) && at.Unix()%86_400 == 0
		})
	case n.Kind() == exprtree.Uint64:
		return parsed(e, n, x, func(text string) (uint64, bool) {
			value, err := strconv.ParseUint(text, 10, 64)
			return value, err == nil
		})
	}
	return parsed(e, n, x, func(text string) (int64, bool) {
		value, err := strconv.ParseInt(text, 10, 64)
		return value, err == nil
	})
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
