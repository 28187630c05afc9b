package hosteval

import (
	"bytes"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// blockRows is the number of rows that a loop computes between two checks of the
// context. It is a multiple of 64, and three operands of 8 bytes take 12 KiB. Literals take memory for a block, in
// each part of the rows.
const blockRows = 512

// operand is the input of a loop: a column of fixed width, or a literal.
type operand struct {
	bytes   []byte // for a literal, its value for each row of a block
	width   int
	literal bool
	valid   bitmap
}

// rows returns the values of n rows, at most a block, from row first.
func (o operand) rows(first, n int) []byte {
	if o.literal {
		return o.bytes[:n*o.width]
	}
	return o.bytes[first*o.width : (first+n)*o.width]
}

func (e *evaluation) operand(n *exprtree.Node) operand {
	width := n.Kind().Bits() / 8
	if n.Op == exprtree.Literal {
		value := literalBytes(n)
		return operand{bytes: bytes.Repeat(value, min(e.rows, blockRows)), width: width, literal: true, valid: bitmap{clear: n.Value == nil}}
	}
	data := e.results[n].Data()
	if data.Len() == 0 {
		return operand{width: width}
	}
	values := data.Buffers()[1].Bytes()[data.Offset()*width:]
	return operand{bytes: values[:data.Len()*width], width: width, valid: validityOf(data)}
}

// The loops take bytes, so that their callers are compiled once and not per type. All
// arguments of a call have the same number of rows.
type (
	// unaryLoop computes an operation without null results for valid operands.
	unaryLoop func(to, x []byte)
	// binaryLoop is unaryLoop for two operands.
	binaryLoop func(to, x, y []byte)
	// checkedUnaryLoop computes at most 64 rows of an operation that gives null for
	// some values, and returns a bit per row: 0 for null.
	checkedUnaryLoop func(to, x []byte) uint64
	// checkedBinaryLoop is checkedUnaryLoop for two operands.
	checkedBinaryLoop func(to, x, y []byte) uint64
)

func unary[R, T any](loop func(to []R, x []T)) unaryLoop {
	return func(to, x []byte) { loop(address.ValuesOf[R](to), address.ValuesOf[T](x)) }
}

func binary[T any](loop func(to, x, y []T)) binaryLoop {
	return func(to, x, y []byte) { loop(address.ValuesOf[T](to), address.ValuesOf[T](x), address.ValuesOf[T](y)) }
}

func checkedUnary[R, T any](loop func(to []R, x []T) uint64) checkedUnaryLoop {
	return func(to, x []byte) uint64 { return loop(address.ValuesOf[R](to), address.ValuesOf[T](x)) }
}

func checkedBinary[T any](loop func(to, x, y []T) uint64) checkedBinaryLoop {
	return func(to, x, y []byte) uint64 {
		return loop(address.ValuesOf[T](to), address.ValuesOf[T](x), address.ValuesOf[T](y))
	}
}

// goesOn reports whether the context is still valid, and records its error if it is
// not.
func (e *evaluation) goesOn() bool {
	if e.ctx.Err() == nil {
		return e.failure == nil
	}
	e.fail(cancel.Error(e.ctx))
	return false
}

// values allocates the result of a node.
func (e *evaluation) values(n *exprtree.Node) operand {
	width := n.Kind().Bits() / 8
	return operand{bytes: make([]byte, e.rows*width), width: width}
}

func (e *evaluation) unary(n *exprtree.Node, loop unaryLoop) arrow.Array {
	x, to := e.operand(n.Arguments[0]), e.values(n)
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		rows := min(blockRows, e.rows-first)
		loop(to.rows(first, rows), x.rows(first, rows))
	}
	return e.assemble(n.Type, to.bytes, x.valid)
}

func (e *evaluation) binary(n *exprtree.Node, loop binaryLoop) arrow.Array {
	x, y, to := e.operand(n.Arguments[0]), e.operand(n.Arguments[1]), e.values(n)
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		rows := min(blockRows, e.rows-first)
		loop(to.rows(first, rows), x.rows(first, rows), y.rows(first, rows))
	}
	return e.assemble(n.Type, to.bytes, x.valid, y.valid)
}

func (e *evaluation) checkedUnary(n *exprtree.Node, loop checkedUnaryLoop) arrow.Array {
	x, to := e.operand(n.Arguments[0]), e.values(n)
	valid := e.bits(func(row, rows int) uint64 {
		return loop(to.rows(row, rows), x.rows(row, rows))
	})
	return e.assemble(n.Type, to.bytes, x.valid, valid)
}

func (e *evaluation) checkedBinary(n *exprtree.Node, loop checkedBinaryLoop) arrow.Array {
	x, y, to := e.operand(n.Arguments[0]), e.operand(n.Arguments[1]), e.values(n)
	valid := e.bits(func(row, rows int) uint64 {
		return loop(to.rows(row, rows), x.rows(row, rows), y.rows(row, rows))
	})
	return e.assemble(n.Type, to.bytes, x.valid, y.valid, valid)
}

// bits collects the results of f for each 64 rows, and for the remaining rows.
func (e *evaluation) bits(f func(row, rows int) uint64) bitmap {
	collected := newWords(e.rows)
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		for i := first; i < min(first+blockRows, e.rows); i += 64 {
			collected.set(i, f(i, min(64, e.rows-i)))
		}
	}
	return bitmap{bits: collected}
}

// assemble makes an array of values that are null if an operand is.
func (e *evaluation) assemble(t arrow.DataType, values []byte, operands ...bitmap) arrow.Array {
	validity, nulls := intersect(operands, e.rows)
	data := array.NewData(t, e.rows, []*arrowmemory.Buffer{validity, arrowmemory.NewBufferBytes(values)}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}
