package hosteval

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe/internal/exprtree"
)

// function returns the compute function of arrow-go that does what the node does,
// or none. Temporal values are given to it as the integers that they are. In arrow-go
// v17 some are wrong and so left out: those named bit_wise misread slices, those of
// bools (and with them the nulls of all others) the last bytes of bitmaps that begin
// within a byte, and comparisons have floats be less than NaN. Those that call Go's
// package math for sin, cos, ln and power are too far off.
func (e *evaluation) function(n *exprtree.Node) (string, compute.FunctionOptions) {
	if e.rows == 0 || !e.anyArray(n) {
		return "", nil // functions of scalars alone give scalars
	}
	kind := n.Arguments[0].Kind()
	numbers := kind.IsNumber()
	switch n.Op {
	case exprtree.Add, exprtree.Subtract, exprtree.Multiply:
		if numbers {
			return n.Op.String() + "_unchecked", nil
		}
	case exprtree.Divide:
		if kind.IsFloat() {
			return "divide_unchecked", nil
		}
	case exprtree.Negate, exprtree.Abs:
		if kind.IsFloat() || kind.IsSigned() {
			return n.Op.String() + "_unchecked", nil
		}
	case exprtree.Sqrt:
		return n.Op.String() + "_unchecked", nil
	case exprtree.Floor, exprtree.Ceil:
		return n.Op.String(), nil
	case exprtree.Truncate:
		return "trunc", nil
	case exprtree.Equal, exprtree.NotEqual, exprtree.Less, exprtree.LessEqual, exprtree.Greater, exprtree.GreaterEqual:
		if kind.IsInteger() {
			return n.Op.String(), nil
		}
	case exprtree.Cast, exprtree.CastWrap:
		return castFunction(n)
	}
	return "", nil
}

// castFunction is for conversions of numbers that cannot fail.
func castFunction(n *exprtree.Node) (string, compute.FunctionOptions) {
	from, to := n.Arguments[0].Kind(), n.Kind()
	if !from.IsNumber() || !to.IsNumber() || exprtree.IsTemporal(n.Arguments[0].Type) && exprtree.IsTemporal(n.Type) {
		return "", nil
	}
	widens := from.IsInteger() && to.IsInteger() && to.Bits() > from.Bits() && (from.IsUnsigned() || to.IsSigned())
	if !widens && !to.IsFloat() {
		return "", nil
	}
	return "cast", compute.UnsafeCastOptions(storageType(n.Type))
}

func (e *evaluation) anyArray(n *exprtree.Node) bool {
	for _, argument := range n.Arguments {
		if argument.Op != exprtree.Literal {
			return true
		}
	}
	return false
}

// call calls a compute function with the node's operands. It sees their values alone,
// as these functions are defined for all there are; the nulls are put together here.
func (e *evaluation) call(n *exprtree.Node, name string, options compute.FunctionOptions) (arrow.Array, error) {
	arguments := make([]compute.Datum, len(n.Arguments))
	valid := make([]validity, 0, len(n.Arguments))
	for i, argument := range n.Arguments {
		if argument.Op == exprtree.Literal {
			arguments[i] = compute.NewDatum(scalarOf(argument))
		} else {
			data := e.results[argument].Data()
			valid = append(valid, validityOf(data))
			values := withoutNulls(data, storageType(argument.Type))
			arguments[i] = compute.NewDatum(values)
			values.Release()
		}
		defer arguments[i].Release()
	}
	result, err := compute.CallFunction(context.WithoutCancel(e.ctx), name, options, arguments...)
	if err != nil {
		return nil, err
	}
	defer result.Release()
	made, ok := result.(*compute.ArrayDatum)
	if !ok || made.Value.Offset() != 0 || made.Value.Len() != e.rows {
		return nil, fmt.Errorf("%s gave %v: %w", name, result.Kind(), arrow.ErrInvalid)
	}
	bits, nulls := intersect(valid, e.rows)
	data := array.NewData(n.Type, e.rows, []*arrowmemory.Buffer{bits, made.Value.Buffers()[1]}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// withoutNulls returns the values of an array as ones of another type that is stored
// alike.
func withoutNulls(data arrow.ArrayData, t arrow.DataType) arrow.Array {
	values := array.NewData(t, data.Len(), []*arrowmemory.Buffer{nil, data.Buffers()[1]}, nil, 0, data.Offset())
	defer values.Release()
	return array.MakeFromData(values)
}

// storageType is the integer that a temporal type is stored as, and any other type
// itself.
func storageType(t arrow.DataType) arrow.DataType {
	switch {
	case !exprtree.IsTemporal(t):
		return t
	case exprtree.KindOf(t) == exprtree.Int32:
		return arrow.PrimitiveTypes.Int32
	}
	return arrow.PrimitiveTypes.Int64
}

// scalarOf returns a literal that is not null, of the type that stores it.
func scalarOf(n *exprtree.Node) scalar.Scalar {
	switch n.Kind() {
	case exprtree.Bool:
		return scalar.NewBooleanScalar(n.Value.(bool))
	case exprtree.Int8:
		return scalar.NewInt8Scalar(int8(signed(n.Value)))
	case exprtree.Int16:
		return scalar.NewInt16Scalar(int16(signed(n.Value)))
	case exprtree.Int32:
		return scalar.NewInt32Scalar(int32(signed(n.Value)))
	case exprtree.Int64:
		return scalar.NewInt64Scalar(signed(n.Value))
	case exprtree.Uint8:
		return scalar.NewUint8Scalar(uint8(unsigned(n.Value)))
	case exprtree.Uint16:
		return scalar.NewUint16Scalar(uint16(unsigned(n.Value)))
	case exprtree.Uint32:
		return scalar.NewUint32Scalar(uint32(unsigned(n.Value)))
	case exprtree.Uint64:
		return scalar.NewUint64Scalar(unsigned(n.Value))
	case exprtree.Float32:
		return scalar.NewFloat32Scalar(float32(n.Value.(float64)))
	}
	return scalar.NewFloat64Scalar(n.Value.(float64))
}
