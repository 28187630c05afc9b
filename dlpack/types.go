package dlpack

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
)

// counterparts are the types that both sides have, by Arrow's number of them. All
// but booleans have the same bytes on both. Where there is none there are no lanes.
var counterparts = [...]cabi.DataType{
	arrow.BOOL:    {Code: cabi.CodeBool, Bits: 8, Lanes: 1},
	arrow.INT8:    {Code: cabi.CodeInt, Bits: 8, Lanes: 1},
	arrow.INT16:   {Code: cabi.CodeInt, Bits: 16, Lanes: 1},
	arrow.INT32:   {Code: cabi.CodeInt, Bits: 32, Lanes: 1},
	arrow.INT64:   {Code: cabi.CodeInt, Bits: 64, Lanes: 1},
	arrow.UINT8:   {Code: cabi.CodeUint, Bits: 8, Lanes: 1},
	arrow.UINT16:  {Code: cabi.CodeUint, Bits: 16, Lanes: 1},
	arrow.UINT32:  {Code: cabi.CodeUint, Bits: 32, Lanes: 1},
	arrow.UINT64:  {Code: cabi.CodeUint, Bits: 64, Lanes: 1},
	arrow.FLOAT16: {Code: cabi.CodeFloat, Bits: 16, Lanes: 1},
	arrow.FLOAT32: {Code: cabi.CodeFloat, Bits: 32, Lanes: 1},
	arrow.FLOAT64: {Code: cabi.CodeFloat, Bits: 64, Lanes: 1},
}

// arrowTypes are Arrow's types themselves.
var arrowTypes = [len(counterparts)]arrow.DataType{
	arrow.BOOL:    arrow.FixedWidthTypes.Boolean,
	arrow.INT8:    arrow.PrimitiveTypes.Int8,
	arrow.INT16:   arrow.PrimitiveTypes.Int16,
	arrow.INT32:   arrow.PrimitiveTypes.Int32,
	arrow.INT64:   arrow.PrimitiveTypes.Int64,
	arrow.UINT8:   arrow.PrimitiveTypes.Uint8,
	arrow.UINT16:  arrow.PrimitiveTypes.Uint16,
	arrow.UINT32:  arrow.PrimitiveTypes.Uint32,
	arrow.UINT64:  arrow.PrimitiveTypes.Uint64,
	arrow.FLOAT16: arrow.FixedWidthTypes.Float16,
	arrow.FLOAT32: arrow.PrimitiveTypes.Float32,
	arrow.FLOAT64: arrow.PrimitiveTypes.Float64,
}

var (
	byteType = cabi.DataType{Code: cabi.CodeUint, Bits: 8, Lanes: 1}
	boolType = cabi.DataType{Code: cabi.CodeBool, Bits: 8, Lanes: 1}
)

// toDLPack returns the type of a tensor of such values.
func toDLPack(t arrow.DataType) (cabi.DataType, error) {
	id := t.ID()
	if int(id) < len(counterparts) && counterparts[id].Lanes == 1 {
		return counterparts[id], nil
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
	for id, each := range counterparts {
		if each == t {
			return arrowTypes[id], nil
		}
	}
	for _, each := range extensionTypes {
		if each.element == t {
			return each, nil
		}
	}
	return nil, unsupported(t)
}

// unsupported says what of a type has no counterpart: its width or all of it.
func unsupported(t cabi.DataType) error {
	sameCode := func(each cabi.DataType) bool { return each.Lanes == 1 && each.Code == t.Code }
	known := slices.ContainsFunc(counterparts[:], sameCode) ||
		slices.ContainsFunc(extensionTypes[:], func(each *ExtensionType) bool { return sameCode(each.element) })
	switch {
	case known:
		return faulty("dtype.bits", "%d bits of type code %d: %w", t.Bits, t.Code, ErrUnsupported)
	case t.Code >= cabi.CodeFloat6E2M3FN && t.Code <= cabi.CodeFloat4E2M1FN:
		return faulty("dtype.code", "%d: floats of less than a byte have no counterpart in Arrow: %w", t.Code, ErrUnsupported)
	}
	return faulty("dtype.code", "%d: only integers, floats, complex numbers and booleans have a counterpart in Arrow: %w", t.Code, ErrUnsupported)
}

// isComplex reports whether an element is two values.
func isComplex(t cabi.DataType) bool { return t.Code == cabi.CodeComplex }
