package exprtree

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// Nullable reports for each output whether a row of it can be null, given the
// nullability of the schema's fields by index. It may report true for an output that is
// never null, but not false for one that can be.
func (p *Program) Nullable(nullable func(place int) bool) []bool {
	return p.NullableInputs(func(input int) bool { return nullable(p.Inputs[input]) })
}

// NullableInputs is [Program.Nullable], given the nullability of the inputs.
func (p *Program) NullableInputs(nullable func(input int) bool) []bool {
	known := make(map[*Node]bool, len(p.Nodes))
	for _, n := range p.Nodes { // operands come before the nodes that use them
		known[n] = n.nullable(func(operand *Node) bool { return known[operand] }, nullable)
	}
	outputs := make([]bool, len(p.Outputs))
	for i, output := range p.Outputs {
		outputs[i] = known[output]
	}
	return outputs
}

// IsNullable reports whether a row of the node can be null, given the nullability of the inputs and
// what is known of other nodes, to which it adds. Of a Column nothing has to be known.
func (n *Node) IsNullable(known map[*Node]bool, input func(int) bool) bool {
	if n.Op == Column {
		return n.nullable(nil, input)
	}
	nullable, ok := known[n]
	if !ok {
		nullable = n.nullable(func(operand *Node) bool { return operand.IsNullable(known, input) }, input)
		known[n] = nullable
	}
	return nullable
}

// nullable reports whether a node can be null.
func (n *Node) nullable(operand func(*Node) bool, input func(int) bool) bool {
	switch n.Op {
	case Column:
		// A dictionary without null indices may have null values, or indices outside of it.
		t := layout.Storage(n.Type).ID()
		return input(n.Input) || t == arrow.DICTIONARY || t == arrow.NULL
	case Literal:
		return n.Value == nil
	}
	switch n.Op.Nulls() {
	case Never:
		return false
	case Skipping:
		for _, argument := range n.Arguments {
			if !operand(argument) {
				return false
			}
		}
		return true
	}
	for _, argument := range n.Arguments {
		if operand(argument) {
			return true
		}
	}
	return !n.total()
}

// total reports whether the operation has a result for all operands that are not null.
func (n *Node) total() bool {
	switch n.Op {
	case Add, Subtract, Multiply, Negate, Abs:
		return n.Kind() != Decimal && !n.IsTimeArithmetic()
	case Divide, Remainder:
		return n.Kind().IsFloat() || n.AlwaysDefined() && !n.IsTimeArithmetic()
	case ShiftLeft, ShiftRight:
		return n.AlwaysDefined()
	case ParseInteger, ParseDate, AddSpan, AddMonths, FloorSpan, FloorWeek, FloorMonths:
		return false
	case Cast:
		return totalCast(n.Arguments[0].Type, n.Type)
	}
	return true
}

// totalCast reports whether a cast represents all values of a type.
func totalCast(from, to arrow.DataType) bool {
	source, target := KindOf(from), KindOf(to)
	switch {
	case IsTemporal(from) && IsTemporal(to):
		return arrow.TypeEqual(from, to)
	case source == Bool || target == Bool:
		return true
	case source == Decimal || target == Decimal:
		return target.IsFloat()
	case target.IsFloat():
		return true
	}
	return source.IsInteger() && target.IsInteger() && target.Holds(source)
}
