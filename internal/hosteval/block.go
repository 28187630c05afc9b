package hosteval

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/cancel"
	"github.com/gpuframe/gpuframe/internal/exprtree"
)

// blockRows is how many rows a loop computes between two looks at the context. It is a
// multiple of 64, and three operands of 8 bytes fill 48 KiB.
const blockRows = 2048

// goesOn reports whether the context is still valid, and notes its error if not.
func (e *evaluation) goesOn() bool {
	if e.ctx.Err() == nil {
		return true
	}
	e.fail(cancel.Error(e.ctx))
	return false
}

// block returns the operand's values in the n rows from row first on. The lane has
// been widened, if it is of a literal.
func (l lane[T]) block(first, n int) []T {
	if l.stride == 0 {
		return l.values[:n]
	}
	return l.values[first : first+n]
}

// blocksOf returns an operand that is read in blocks: a literal is repeated for the
// rows of one.
func blocksOf[T number](e *evaluation, n *exprtree.Node) lane[T] {
	l := laneOf[T](e, n)
	if l.stride == 0 {
		repeated := make([]T, min(e.rows, blockRows))
		for i := range repeated {
			repeated[i] = l.values[0]
		}
		l.values = repeated
	}
	return l
}

// mapped computes an operation of one operand that never gives null for a value. The
// loop computes a block of rows, null ones too.
func mapped[T, R number](e *evaluation, n *exprtree.Node, loop func(to []R, x []T)) arrow.Array {
	x := blocksOf[T](e, n.Arguments[0])
	values := make([]R, e.rows)
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		to := values[first:min(first+blockRows, e.rows)]
		loop(to, x.block(first, len(to)))
	}
	return assemble(e, n.Type, values, x.valid)
}

// zipped is mapped for two operands.
func zipped[T number](e *evaluation, n *exprtree.Node, loop func(to, x, y []T)) arrow.Array {
	x, y := blocksOf[T](e, n.Arguments[0]), blocksOf[T](e, n.Arguments[1])
	values := make([]T, e.rows)
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		to := values[first:min(first+blockRows, e.rows)]
		loop(to, x.block(first, len(to)), y.block(first, len(to)))
	}
	return assemble(e, n.Type, values, x.valid, y.valid)
}

// assemble makes an array of values that are null where an operand is.
func assemble[T number](e *evaluation, t arrow.DataType, values []T, operands ...bitmap) arrow.Array {
	validity, nulls := intersect(operands, e.rows)
	data := array.NewData(t, e.rows, []*arrowmemory.Buffer{validity, arrowmemory.NewBufferBytes(bytesOf(values))}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func bytesOf[T any](values []T) []byte {
	var width T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(width)))
}
