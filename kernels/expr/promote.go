package expr

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// common finds the type that operands of an operation are converted to. The types
// of literals that are open follow those of the others.
func (b *binder) common(op exprtree.Op, operands []operand) (arrow.DataType, error) {
	types := chosen(op, operands)
	t, ok := commonType(types)
	if !ok {
		return nil, fmt.Errorf("no common type of %s: %w", listed(types), ErrType)
	}
	return t, nil
}

// chosen returns the types of the operands, having let the open literals choose
// theirs.
func chosen(op exprtree.Op, operands []operand) []arrow.DataType {
	types := make([]arrow.DataType, len(operands))
	var known []arrow.DataType
	for i, o := range operands {
		if o.open == nil {
			types[i] = o.node.Type
			known = append(known, types[i])
		}
	}
	for i, o := range operands {
		if o.open != nil {
			types[i] = adapted(op, o.open, known)
		}
	}
	return types
}

// commonType returns the type that values of all the types are converted to.
func commonType(types []arrow.DataType) (arrow.DataType, bool) {
	if len(types) == 0 {
		return nil, false
	}
	same, temporal, decimals := true, true, false
	for _, t := range types {
		same = same && arrow.TypeEqual(t, types[0])
		temporal = temporal && exprtree.IsTemporal(t)
		decimals = decimals || exprtree.KindOf(t) == exprtree.Decimal
	}
	switch {
	case same:
		kind := exprtree.KindOf(types[0])
		return types[0], kind != exprtree.Other && kind != exprtree.String
	case temporal:
		return exprtree.CommonTime(types...)
	case decimals:
		return commonDecimal(types)
	}
	return commonNumeric(types)
}

// commonNumeric is Arrow's rule for integers and floats: see the package's
// documentation.
func commonNumeric(types []arrow.DataType) (arrow.DataType, bool) {
	var signed, unsigned, float int
	for _, t := range types {
		kind := exprtree.KindOf(t)
		switch {
		case exprtree.IsTemporal(t) || !kind.IsNumber():
			return nil, false
		case kind.IsFloat():
			float = max(float, kind.Bits())
		case kind.IsSigned():
			signed = max(signed, kind.Bits())
		default:
			unsigned = max(unsigned, kind.Bits())
		}
	}
	if float > 0 {
		if float == 32 {
			return arrow.PrimitiveTypes.Float32, true
		}
		return arrow.PrimitiveTypes.Float64, true
	}
	if signed == 0 {
		return unsignedOf(unsigned), true
	}
	if signed <= unsigned {
		signed = min(2*unsigned, 64)
	}
	return signedOf(signed), true
}

func signedOf(bits int) arrow.DataType {
	switch bits {
	case 8:
		return arrow.PrimitiveTypes.Int8
	case 16:
		return arrow.PrimitiveTypes.Int16
	case 32:
		return arrow.PrimitiveTypes.Int32
	}
	return arrow.PrimitiveTypes.Int64
}

func unsignedOf(bits int) arrow.DataType {
	switch bits {
	case 8:
		return arrow.PrimitiveTypes.Uint8
	case 16:
		return arrow.PrimitiveTypes.Uint16
	case 32:
		return arrow.PrimitiveTypes.Uint32
	}
	return arrow.PrimitiveTypes.Uint64
}

// listed is "int64 and utf8".
func listed(types []arrow.DataType) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.String()
	}
	return strings.Join(names, " and ")
}
