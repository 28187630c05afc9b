package plan

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// Nothing yields no rows. It takes the place of operations that cannot yield any.
type Nothing struct {
	cautious
	schema *arrow.Schema
}

// NewNothing makes a node without rows.
func NewNothing(schema *arrow.Schema) *Nothing { return &Nothing{schema: schema} }

// Schema implements [Node].
func (n *Nothing) Schema() *arrow.Schema { return n.schema }

// Inputs returns nil.
func (n *Nothing) Inputs() []Node { return nil }

// WithInputs returns the node.
func (n *Nothing) WithInputs(...Node) (Node, error) { return n, nil }

// String implements [Node].
func (n *Nothing) String() string { return "no rows" }

// isNothing reports whether a node is known to yield no rows.
func isNothing(n Node) bool {
	_, ok := n.(*Nothing)
	return ok
}

func (n *Nothing) holdsRows() bool { return false }

func (n *Nothing) estimate(*Analysis, Size) Size { return Size{Exact: true} }

func (n *Nothing) pruned(_ []Node, wanted columnSet) (Node, error) {
	unread := func(f arrow.Field) bool { return !wanted[f.Name] }
	return NewNothing(arrow.NewSchema(slices.DeleteFunc(slices.Clone(n.schema.Fields()), unread), nil)), nil
}
