package expr

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// typed is the type of a node for tables of one schema. It is stored with the node, so that the
// type of an expression is found in the time that its outermost operation takes if those of its
// operands are known: planned expressions grow step by step.
type typed struct {
	schema *arrow.Schema
	// operand has the nodes of the operand. They are part of no program.
	operand  operand
	nullable bool
}

// typeOf is [Expr.Type] of an expression without steps.
func typeOf(schema *arrow.Schema, e Expr) (t arrow.DataType, nullable bool, err error) {
	if n := e.node.plain(); n != nil && n.op == exprtree.Column {
		if i, ok := field(schema, n.text); ok {
			f := schema.Field(i)
			column := exprtree.Node{Op: exprtree.Column, Type: f.Type}
			return f.Type, column.IsNullable(nil, func(int) bool { return f.Nullable }), nil
		}
	}
	if e.node != nil {
		if known := e.node.typed.Load(); known != nil && known.schema == schema {
			return known.operand.node.Type, known.nullable, nil
		}
	}
	b := newBinder(schema)
	b.root, b.nullable = e.node, make(map[*exprtree.Node]bool)
	o, err := b.bind(e.node)
	if err != nil {
		return nil, false, err
	}
	n, err := b.alone(o)
	if err != nil {
		return nil, false, err
	}
	return n.Type, b.isNullable(n), nil
}

func (b *binder) isNullable(n *exprtree.Node) bool {
	return n.IsNullable(b.nullable, func(field int) bool { return b.schema.Field(field).Nullable })
}

// typedBefore returns the operand of a node that was typed for the schema.
func (b *binder) typedBefore(n *node) (operand, bool) {
	if b.nullable == nil {
		return operand{}, false
	}
	t := n.typed.Load()
	if t == nil || t.schema != b.schema {
		return operand{}, false
	}
	b.nullable[t.operand.node] = t.nullable
	return t.operand, true
}

// keepTyped stores the operand of a node, if the binder finds types only. A literal with an open type
// has none.
func (b *binder) keepTyped(n *node, o operand) {
	if b.nullable != nil && o.node != nil {
		n.typed.Store(&typed{b.schema, o, b.isNullable(o.node)})
	}
}
