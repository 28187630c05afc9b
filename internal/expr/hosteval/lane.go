package hosteval

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// integer, float and number are the Go types that store values of these kinds.
type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type float interface{ float32 | float64 }

type number interface{ integer | float }

// lane is an operand in the form that a loop reads: one value per row, or one value for
// all rows.
type lane[T any] struct {
	values []T
	stride int
	valid  bitmap
}

func (l lane[T]) at(i int) T { return l.values[i*l.stride] }

// ok reports whether row i is not null.
func (l lane[T]) ok(i int) bool { return l.valid.at(i) }

// laneOf returns the operand as values of T, the storage type of the operand or a type
// of the same width.
func laneOf[T any](e *evaluation, n *exprtree.Node) lane[T] {
	bytes, stride, valid := e.lane(n)
	return lane[T]{values: address.ValuesOf[T](bytes), stride: stride, valid: valid}
}

func (e *evaluation) lane(n *exprtree.Node) (bytes []byte, stride int, valid bitmap) {
	if n.Op == exprtree.Literal {
		return literalBytes(n), 0, bitmap{clear: n.Value == nil}
	}
	o := e.operand(n)
	return o.bytes, 1, o.valid
}

// literalBytes returns the stored form of a literal of fixed width, 0 for null.
func literalBytes(n *exprtree.Node) []byte {
	decimal, _ := n.Value.(decimal128.Num)
	wide, _ := n.Value.(float64)
	switch n.Kind() {
	case exprtree.Int8, exprtree.Int16, exprtree.Int32, exprtree.Int64:
		return lowBytes(uint64(signed(n.Value)), n.Kind())
	case exprtree.Uint8, exprtree.Uint16, exprtree.Uint32, exprtree.Uint64:
		return lowBytes(unsigned(n.Value), n.Kind())
	case exprtree.Float32:
		return address.BytesOf([]float32{float32(wide)})
	case exprtree.Float64:
		return address.BytesOf([]float64{wide})
	}
	return address.BytesOf([]decimal128.Num{decimal})
}

// lowBytes returns the bytes of an integer of the kind with the value's low bits.
func lowBytes(value uint64, kind exprtree.Kind) []byte {
	switch kind.Bits() {
	case 8:
		return []byte{byte(value)}
	case 16:
		return address.BytesOf([]uint16{uint16(value)})
	case 32:
		return address.BytesOf([]uint32{uint32(value)})
	}
	return address.BytesOf([]uint64{value})
}

func signed(value any) int64 {
	v, _ := value.(int64)
	return v
}

func unsigned(value any) uint64 {
	v, _ := value.(uint64)
	return v
}

// elements returns the values of an array of a fixed width.
func elements[T any](data arrow.ArrayData) []T {
	if data.Len() == 0 {
		return nil
	}
	first := unsafe.Pointer(unsafe.SliceData(data.Buffers()[1].Bytes()))
	return unsafe.Slice((*T)(first), data.Offset()+data.Len())[data.Offset():]
}

// truths returns the truth and the validity of a bool operand as one bit per row.
func (e *evaluation) truths(n *exprtree.Node) (truth, valid bitmap) {
	if n.Op == exprtree.Literal {
		value, _ := n.Value.(bool)
		return bitmap{clear: !value}, bitmap{clear: n.Value == nil}
	}
	data := e.results[n].Data()
	if data.Len() == 0 {
		return bitmap{}, bitmap{}
	}
	return bitmap{bits: data.Buffers()[1].Bytes(), offset: data.Offset()}, validityOf(data)
}

// boolsOf returns a bool operand as one value per row.
func (e *evaluation) boolsOf(n *exprtree.Node) lane[bool] {
	truth, valid := e.truths(n)
	if truth.uniform() {
		return lane[bool]{values: []bool{!truth.clear}, valid: valid}
	}
	values := make([]bool, e.rows)
	for i := range values {
		values[i] = truth.at(i)
	}
	return lane[bool]{values: values, stride: 1, valid: valid}
}

// build makes an array of the results of f for each row: a value, and whether it is not
// null.
func build[T any](e *evaluation, t arrow.DataType, f func(i int) (T, bool)) arrow.Array {
	values := make([]T, e.rows)
	var nulls nullBits
	for first := 0; first < e.rows && e.goesOn(); first += blockRows {
		for i := first; i < min(first+blockRows, e.rows); i++ {
			var ok bool
			if values[i], ok = f(i); !ok {
				nulls.set(i, e.rows)
			}
		}
	}
	return nulls.array(t, e.rows, address.BytesOf(values))
}

// buildBools is build for bools.
func buildBools(e *evaluation, f func(i int) (truth, ok bool)) arrow.Array {
	return e.bools(func(row int) (truths, valid uint64) {
		for i := range min(64, e.rows-row) {
			truth, ok := f(row + i)
			truths |= uint64(bit(truth)) << i
			valid |= uint64(bit(ok)) << i
		}
		return truths, valid
	})
}

// bit returns 1 for true. The compiler generates no branch for it.
func bit(truth bool) byte {
	if truth {
		return 1
	}
	return 0
}

// nullBits is a validity bitmap that is allocated for the first null.
type nullBits struct {
	bits  []byte
	count int
}

func (b *nullBits) set(i, rows int) {
	if b.bits == nil {
		b.bits = make([]byte, bitutil.BytesForBits(int64(rows)))
		bitutil.SetBitsTo(b.bits, 0, int64(rows), true)
	}
	bitutil.ClearBit(b.bits, i)
	b.count++
}

func (b *nullBits) array(t arrow.DataType, rows int, values []byte) arrow.Array {
	buffers := []*arrowmemory.Buffer{nil, arrowmemory.NewBufferBytes(values)}
	if b.bits != nil {
		buffers[0] = arrowmemory.NewBufferBytes(b.bits)
	}
	data := array.NewData(t, rows, buffers, nil, b.count, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// nulls makes an array of nulls.
func (e *evaluation) nulls(t arrow.DataType) arrow.Array {
	return e.spread(&exprtree.Node{Op: exprtree.Literal, Type: t})
}

// spread makes an array with a literal in every row.
func (e *evaluation) spread(n *exprtree.Node) arrow.Array {
	if n.Kind() == exprtree.Bool {
		truth, valid := e.truths(n)
		return e.bools(func(row int) (uint64, uint64) { return truth.word(row), valid.word(row) })
	}
	return e.coalesce(n.Type, []*exprtree.Node{n})
}
