package exprtree

import "github.com/apache/arrow/go/v17/arrow"

// Node is one operation on operands of known types. Nodes are immutable; a node may be
// the operand of several others.
type Node struct {
	Op Op
	// Type is the type of the result.
	Type arrow.DataType
	// Arguments are the operands.
	Arguments []*Node
	// Constant is a number that is part of the operation, and of its code.
	Constant int64
	// Input is, for a Column, its index among the program's inputs.
	Input int
	// Value is, for a Literal, its value: bool, int64 for signed integers and temporal
	// types, uint64 for unsigned integers, float64 for floats (for float32 a value that
	// float32 represents exactly), decimal128.Num, string for utf8 and binary, or nil
	// for null.
	Value any
	// Slot numbers the program's literals. The value of a Literal is an argument of the
	// kernel, so programs that differ only in values share their code. The length of
	// strings is an argument too. A null literal has slot -1, and its being null is
	// part of the code.
	Slot int
}

// Kind returns the kind of the result.
func (n *Node) Kind() Kind { return KindOf(n.Type) }

// IsNullLiteral reports whether the node is a literal that is null.
func (n *Node) IsNullLiteral() bool { return n.Op == Literal && n.Value == nil }

// IsTimeArithmetic reports whether the node adds, subtracts, multiplies, divides or negates
// temporal values: a result that the type does not hold is null instead of wrapping around.
func (n *Node) IsTimeArithmetic() bool {
	switch n.Op {
	case Add, Subtract, Multiply, Divide, Negate, Abs:
		return IsTemporal(n.Type)
	}
	return false
}

// AlwaysDefined reports whether a division of integers or a shift always has a result,
// because its divisor or distance is a literal that allows it. It is false for all
// other operations.
func (n *Node) AlwaysDefined() bool {
	if len(n.Arguments) != 2 || n.Arguments[1].Op != Literal {
		return false
	}
	var by uint64
	switch value := n.Arguments[1].Value.(type) {
	case int64:
		by = uint64(value) // negative numbers become too large for a shift
	case uint64:
		by = value
	default:
		return false
	}
	switch n.Op {
	case Divide, Remainder:
		return by != 0
	case ShiftLeft, ShiftRight:
		return by < uint64(n.Kind().Bits())
	}
	return false
}
