package hosteval

import (
	"github.com/gpuframe/gpuframe/internal/exprtree"
)

// textValues computes an operation that gives strings: the bytes of each row, nil for
// null. It returns nil for an operation that it does not know.
func (e *evaluation) textValues(n *exprtree.Node) [][]byte {
	if n.Op != exprtree.ByteRange {
		return nil
	}
	x, begin, end := e.text(n.Arguments[0]), laneOf[int64](e, n.Arguments[1]), laneOf[int64](e, n.Arguments[2])
	return e.buildTexts(func(i int) ([]byte, bool) {
		text, ok := x(i)
		if !ok || !begin.ok(i) || !end.ok(i) {
			return nil, false
		}
		first := max(min(begin.at(i), int64(len(text))), 0)
		return text[first:max(min(end.at(i), int64(len(text))), first)], true
	})
}

// buildTexts collects the results of f for each row.
func (e *evaluation) buildTexts(f func(i int) ([]byte, bool)) [][]byte {
	texts := make([][]byte, e.rows)
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		for i := first; i < min(first+blockRows, e.rows); i++ {
			if text, ok := f(i); ok {
				texts[i] = text
				if text == nil {
					texts[i] = []byte{}
				}
			}
		}
	}
	return texts
}
