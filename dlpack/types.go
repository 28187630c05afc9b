package dlpack

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
)

// counterparts are the types that both sides have. All but booleans have the same
// bytes on both.
var counterparts = [...]struct {
	arrow  arrow.DataType
	dlpack cabi.DataType
}{
	{arrow.PrimitiveTypes.Int8, cabi.DataType{Code: cabi.CodeInt, Bits: 8, Lanes: 1}},
	{arrow.PrimitiveTypes.Int16, cabi.DataType{Code: cabi.CodeInt, Bits: 16, Lanes: 1}},
	{arrow.PrimitiveTypes.Int32, cabi.DataType{Code: cabi.CodeInt, Bits: 32, Lanes: 1}},
	{arrow.PrimitiveTypes.Int64, cabi.DataType{Code: cabi.CodeInt, Bits: 64, Lanes: 1}},
	{arrow.PrimitiveTypes.Uint8, byteType},
	{arrow.PrimitiveTypes.Uint16, cabi.DataType{Code: cabi.CodeUint, Bits: 16, Lanes: 1}},
	{arrow.PrimitiveTypes.Uint32, cabi.DataType{Code: cabi.CodeUint, Bits: 32, Lanes: 1}},
	{arrow.PrimitiveTypes.Uint64, cabi.DataType{Code: cabi.CodeUint, Bits: 64, Lanes: 1}},
	{arrow.FixedWidthTypes.Boolean, boolType},
	{arrow.FixedWidthTypes.Float16, cabi.DataType{Code: cabi.CodeFloat, Bits: 16, Lanes: 1}},
	{arrow.PrimitiveTypes.Float32, cabi.DataType{Code: cabi.CodeFloat, Bits: 32, Lanes: 1}},
	{arrow.PrimitiveTypes.Float64, cabi.DataType{Code: cabi.CodeFloat, Bits: 64, Lanes: 1}},
}

var (
	byteType = cabi.DataType{Code: cabi.CodeUint, Bits: 8, Lanes: 1}
	boolType = cabi.DataType{Code: cabi.CodeBool, Bits: 8, Lanes: 1}
)

// toDLPack returns the type of a tensor of such values.
func toDLPack(t arrow.DataType) (cabi.DataType, error) {
	id := t.ID()
	for i := range counterparts {
		if counterparts[i].arrow.ID() == id {
			return counterparts[i].dlpack, nil
		}
	}
	switch id {
	case arrow.EXTENSION:
		if known := extensionOf(t); known != nil {
			return known.element, nil
		}
	case arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		return cabi.DataType{}, faulty("type", "DLPack has no dates and times: view the %v as integers of its width: %w", t, ErrUnsupported)
	}
	return cabi.DataType{}, faulty("type", "DLPack has no counterpart of %v: %w", t, ErrUnsupported)
}

// fromDLPack returns the Arrow type of a tensor's elements.
func fromDLPack(t cabi.DataType) (arrow.DataType, error) {
	if t.Lanes != 1 {
		return nil, faulty("dtype.lanes", "%d: only one value an element: %w", t.Lanes, ErrUnsupported)
	}
	known := false
	for i := range counterparts {
		if counterparts[i].dlpack == t {
			return counterparts[i].arrow, nil
		}
		known = known || counterparts[i].dlpack.Code == t.Code
	}
	for _, each := range extensionTypes {
		if each.element == t {
			return each, nil
		}
		known = known || each.element.Code == t.Code
	}
	switch {
	case known:
		return nil, faulty("dtype.bits", "%d bits of type code %d: %w", t.Bits, t.Code, ErrUnsupported)
	case t.Code >= cabi.CodeFloat6E2M3FN && t.Code <= cabi.CodeFloat4E2M1FN:
		return nil, faulty("dtype.code", "%d: floats of less than a byte have no counterpart in Arrow: %w", t.Code, ErrUnsupported)
	}
	return nil, faulty("dtype.code", "%d: only integers, floats, complex numbers and booleans have a counterpart in Arrow: %w", t.Code, ErrUnsupported)
}

// isComplex reports whether an element is two values.
func isComplex(t cabi.DataType) bool { return t.Code == cabi.CodeComplex }
