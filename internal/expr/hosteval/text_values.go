package hosteval

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/memory"
)

// reader reads a string operand: the bytes of a row, and whether it is not null.
type reader = func(i int) ([]byte, bool)

// textValues computes an operation that gives strings: the bytes of each row, nil for
// null. It returns nil for an operation that it does not know.
func (e *evaluation) textValues(n *exprtree.Node) [][]byte {
	var readers []reader
	for _, argument := range n.Arguments {
		if argument.Kind() == exprtree.String {
			readers = append(readers, e.text(argument))
		}
	}
	switch n.Op {
	case exprtree.Format:
		words, valid := e.words(n.Arguments[0])
		signed := n.Arguments[0].Kind().IsSigned()
		return e.buildTexts(func(i int) ([]byte, bool) {
			switch {
			case !valid(i):
				return nil, false
			case signed:
				return strconv.AppendInt(nil, int64(words(i)), 10), true
			}
			return strconv.AppendUint(nil, words(i), 10), true
		})
	case exprtree.ByteRange:
		return e.byteRange(n, readers[0])
	case exprtree.IfElse:
		return e.textCases(n, readers)
	case exprtree.Coalesce:
		return e.buildTexts(func(i int) ([]byte, bool) {
			for _, read := range readers {
				if text, ok := read(i); ok {
					return text, true
				}
			}
			return nil, false
		})
	case exprtree.Join:
		return e.join(readers)
	}
	rewrite := rewriter(n)
	if rewrite == nil {
		return nil
	}
	return e.buildTexts(func(i int) ([]byte, bool) {
		text, ok := readers[0](i)
		if !ok {
			return nil, false
		}
		return rewrite(text), true
	})
}

// join makes the strings one after the other. Its result may be much larger than its operands.
func (e *evaluation) join(readers []reader) [][]byte {
	return e.buildTexts(func(i int) (joined []byte, ok bool) {
		length := 0
		for _, read := range readers {
			text, ok := read(i)
			if !ok {
				return nil, false
			}
			length += len(text)
		}
		if !e.reserve(length) {
			return nil, false
		}
		joined = make([]byte, 0, length)
		for _, read := range readers {
			text, _ := read(i)
			joined = append(joined, text...)
		}
		return joined, true
	})
}

func (e *evaluation) byteRange(n *exprtree.Node, x reader) [][]byte {
	begin, end := laneOf[int64](e, n.Arguments[1]), laneOf[int64](e, n.Arguments[2])
	return e.buildTexts(func(i int) ([]byte, bool) {
		text, ok := x(i)
		if !ok || !begin.ok(i) || !end.ok(i) {
			return nil, false
		}
		first := max(min(begin.at(i), int64(len(text))), 0)
		return text[first:max(min(end.at(i), int64(len(text))), first)], true
	})
}

// rewriter returns the function of one string that the operation is, or nil.
func rewriter(n *exprtree.Node) func(text []byte) []byte {
	switch n.Op {
	case exprtree.Upper:
		return func(text []byte) []byte { return mapped(text, unicode.ToUpper) }
	case exprtree.Lower:
		return func(text []byte) []byte { return mapped(text, unicode.ToLower) }
	case exprtree.Reverse:
		return reversed
	case exprtree.Replace:
		old, with := []byte(n.Arguments[1].Value.(string)), []byte(n.Arguments[2].Value.(string))
		if len(old) == 0 {
			return func(text []byte) []byte { return text }
		}
		return func(text []byte) []byte { return bytes.ReplaceAll(text, old, with) }
	}
	return nil
}

// mapped replaces the characters; bytes that are no UTF-8 stay.
func mapped(text []byte, to func(rune) rune) []byte {
	result := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, width := utf8.DecodeRune(text)
		if r == utf8.RuneError && width == 1 {
			result = append(result, text[0])
		} else {
			result = utf8.AppendRune(result, to(r))
		}
		text = text[width:]
	}
	return result
}

func reversed(text []byte) []byte {
	result := make([]byte, 0, len(text))
	end := len(text)
	for i := len(text) - 1; i >= 0; i-- {
		if begins(text[i]) {
			result = append(result, text[i:end]...)
			end = i
		}
	}
	return append(result, text[:end]...)
}

// buildTexts collects the results of f for each row.
func (e *evaluation) buildTexts(f func(i int) ([]byte, bool)) [][]byte {
	texts := make([][]byte, e.rows)
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		for i := first; i < min(first+blockRows, e.rows); i++ {
			if text, ok := f(i); ok {
				texts[i] = textOf(text)
			}
		}
	}
	return texts
}

// textOf returns a string that is not null.
func textOf(text []byte) []byte {
	if text == nil {
		return []byte{}
	}
	return text
}

// textArray makes an array of a string operand. The total may exceed what offsets of 32
// bits hold.
func (e *evaluation) textArray(n *exprtree.Node) arrow.Array {
	read, large := e.text(n), n.Type.ID() == arrow.LARGE_STRING || n.Type.ID() == arrow.LARGE_BINARY
	ends := make([]int64, e.rows+1)
	var data []byte
	var nulls nullBits
	for i := range e.rows {
		text, ok := read(i)
		if !ok {
			nulls.set(i, e.rows)
		}
		data = append(data, text...)
		ends[i+1] = int64(len(data))
	}
	offsets := address.BytesOf(ends)
	if !large {
		if most := strategy.MaximumOffset(e.ctx, 4); int64(len(data)) > most {
			e.fail(fmt.Errorf("strings of %d bytes, the offsets of %v reach to %d: use a column with large offsets: %w", len(data), n.Type, most, memory.ErrOverflow))
			data = nil
			clear(ends)
		}
		short := make([]int32, len(ends))
		convertEach(short, ends)
		offsets = address.BytesOf(short)
	}
	buffers := []*arrowmemory.Buffer{nil, arrowmemory.NewBufferBytes(offsets), arrowmemory.NewBufferBytes(data)}
	if nulls.bits != nil {
		buffers[0] = arrowmemory.NewBufferBytes(nulls.bits)
	}
	arrayData := array.NewData(n.Type, e.rows, buffers, nil, nulls.count, 0)
	defer arrayData.Release()
	return array.MakeFromData(arrayData)
}
