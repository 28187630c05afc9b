package tree

import "github.com/apache/arrow/go/v17/arrow"

// Node is one operation on operands whose types are known. Nodes are immutable once
// made; one may be the operand of several.
type Node struct {
	Op Op
	// Type is the type of the result.
	Type arrow.DataType
	// Arguments are the operands.
	Arguments []*Node
	// Input is for a Column its place among the program's inputs.
	Input int
	// Value is for a Literal its value: bool, int64 for signed integers and temporal
	// types, uint64 for unsigned integers, float64 for floats, decimal128.Num, string
	// for utf8 and binary, or nil for null.
	Value any
	// Slot numbers a Literal among the program's; its value is an argument of the
	// kernel, so that programs which differ in values share their code. For strings
	// the length too is an argument.
	Slot int
}

// Program is what expressions and a schema make: what to load and what to compute.
type Program struct {
	// Inputs are the columns that are loaded, each once, by their place in the
	// schema; Types their types.
	Inputs []int
	Types  []arrow.DataType
	// Outputs are the expressions.
	Outputs []*Node
	// Literals are the literals by their slots.
	Literals []*Node
	// Key names the shape: the operations and types, without names of columns or
	// values of literals. Programs of one key share their code.
	Key string
}
