package hosteval

import (
	"bytes"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// textRows are the texts of 64 rows, and a bit for each that is not null. Loops over them call no function for a row.
type textRows struct {
	texts [64][]byte
	valid uint64
}

// textReader returns a function that reads a string operand, at most 64 rows from a row on.
func (e *evaluation) textReader(n *exprtree.Node) func(to *textRows, row, rows int) {
	result, isArray := e.results[n]
	if isArray && e.texts[n] == nil && n.Op != exprtree.Literal {
		data := result.Data()
		if valid := validityOf(data); valid.uniform() && !valid.clear && len(data.Buffers()) == 3 && data.Buffers()[2] != nil {
			if id := result.DataType().ID(); id == arrow.STRING || id == arrow.BINARY {
				return readTexts(offsets[int32](data), data.Buffers()[2].Bytes(), e.text(n))
			}
		}
	}
	return readEach(e.text(n))
}

// readEach reads texts with a function for each row.
func readEach(text func(i int) ([]byte, bool)) func(to *textRows, row, rows int) {
	return func(to *textRows, row, rows int) {
		to.valid = 0
		for i := range rows {
			value, ok := text(row + i)
			to.texts[i] = value
			to.valid |= uint64(bit(ok)) << i
		}
	}
}

// readTexts reads texts between offsets of 32 bits that are not null. Rows with invalid offsets are read by a function that
// records the error.
func readTexts(offsets []int32, data []byte, text func(i int) ([]byte, bool)) func(to *textRows, row, rows int) {
	slow := readEach(text)
	return func(to *textRows, row, rows int) {
		ends := offsets[row : row+rows+1]
		begin, ordered := ends[0], ends[0] >= 0
		for i, end := range ends[1:] {
			if ordered = ordered && begin <= end && int64(end) <= int64(len(data)); !ordered {
				slow(to, row, rows)
				return
			}
			to.texts[i], begin = data[begin:end], end
		}
		to.valid = ^uint64(0) >> (64 - rows)
	}
}

// buildText makes an array of integers that are computed of texts. The measure is null where the text is.
func (e *evaluation) buildText(n *exprtree.Node, measure func(to []int64, rows *textRows)) arrow.Array {
	read, to := e.textReader(n.Arguments[0]), e.values(n)
	values := address.ValuesOf[int64](to.bytes)
	var rows textRows
	valid := e.bits(func(row, count int) uint64 {
		read(&rows, row, count)
		measure(values[row:row+count], &rows)
		return rows.valid
	})
	return e.assemble(n.Type, to.bytes, valid)
}

// buildTruths makes an array of bools that are computed of texts.
func (e *evaluation) buildTruths(n *exprtree.Node, holds func(rows *textRows) uint64) arrow.Array {
	read := e.textReader(n)
	var rows textRows
	return e.bools(func(row int) (truths, valid uint64) {
		read(&rows, row, min(64, e.rows-row))
		return holds(&rows), rows.valid
	})
}

// equalsLiteral returns a comparison with a literal of the texts of a column without nulls, or nil for other operands.
// It only reads texts that have the length of the literal.
func (e *evaluation) equalsLiteral(n *exprtree.Node, literal []byte) func(row, rows int) (uint64, bool) {
	result := e.results[n]
	if n.Op != exprtree.Column || result == nil || result.DataType().ID() != arrow.STRING {
		return nil
	}
	data := result.Data()
	if valid := validityOf(data); !valid.uniform() || valid.clear || data.Len() == 0 || data.Buffers()[2] == nil {
		return nil
	}
	ends, bytes, wanted := offsets[int32](data), data.Buffers()[2].Bytes(), string(literal)
	return func(row, rows int) (truths uint64, ok bool) {
		begin, least := ends[row], ends[row] // least is negative if an offset or a length is
		for i, end := range ends[row+1 : row+rows+1] {
			least |= end | (end - begin)
			if int(end-begin) == len(wanted) && begin >= 0 && int(end) <= len(bytes) && string(bytes[begin:end]) == wanted {
				truths |= 1 << i
			}
			begin = end
		}
		return truths, least >= 0 && int64(begin) <= int64(len(bytes))
	}
}

// equalTexts compares texts with a literal.
func equalTexts(literal []byte) func(rows *textRows) uint64 {
	return func(rows *textRows) (truths uint64) {
		for i, text := range rows.texts[:bits.Len64(rows.valid)] {
			truths |= uint64(bit(len(text) == len(literal) && bytes.Equal(text, literal))) << i
		}
		return truths
	}
}

// eachText makes a loop of a function for each row.
func eachText(holds func(text []byte) bool) func(rows *textRows) uint64 {
	return func(rows *textRows) (truths uint64) {
		for i, text := range rows.texts[:bits.Len64(rows.valid)] {
			truths |= uint64(bit(holds(text))) << i
		}
		return truths
	}
}

// eachMeasure is eachText for integers.
func eachMeasure(measure func(text []byte) int) func(to []int64, rows *textRows) {
	return func(to []int64, rows *textRows) {
		for i := range to {
			to[i] = int64(measure(rows.texts[i]))
		}
	}
}
