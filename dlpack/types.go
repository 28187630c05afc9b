package dlpack

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// arrowTypes are the types that both sides have, by Arrow's type id.
var arrowTypes = [...]arrow.DataType{
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

// counterparts are DLPack's types of arrowTypes. All except booleans have the same
// bytes on both sides. A type without a counterpart has zero lanes.
var counterparts = counterpartsOf(arrowTypes)

func counterpartsOf(types [len(arrowTypes)]arrow.DataType) (counterparts [len(arrowTypes)]cabi.DataType) {
	for id, t := range types {
		if l, err := layout.Of(t); err == nil {
			counterparts[id] = counterpartOf(l)
		}
	}
	return counterparts
}

func counterpartOf(l layout.Layout) cabi.DataType {
	bits := uint8(8 * l.Width)
	switch l.Class {
	case layout.Boolean:
		return boolType
	case layout.Signed:
		return cabi.DataType{Code: cabi.CodeInt, Bits: bits, Lanes: 1}
	case layout.Unsigned:
		return cabi.DataType{Code: cabi.CodeUint, Bits: bits, Lanes: 1}
	case layout.Float:
		return cabi.DataType{Code: cabi.CodeFloat, Bits: bits, Lanes: 1}
	}
	return cabi.DataType{}
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
	if id == arrow.EXTENSION {
		if known := extensionOf(t); known != nil {
			return known.element, nil
		}
	} else if l, err := layout.Of(t); err == nil && l.Class == layout.Temporal {
		return cabi.DataType{}, faulty("type", "DLPack has no dates and times: view the %v as integers of its width: %w", t, ErrUnsupported)
	}
	return cabi.DataType{}, faulty("type", "DLPack has no counterpart of %v: %w", t, ErrUnsupported)
}

// fromDLPack returns the Arrow type of a tensor's elements.
func fromDLPack(t cabi.DataType) (arrow.DataType, error) {
	if t.Lanes != 1 {
		return nil, faulty("dtype.lanes", "%d, expected 1: %w", t.Lanes, ErrUnsupported)
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

// unsupported returns an error about the part of a type without a counterpart: its
// width or the type code.
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
