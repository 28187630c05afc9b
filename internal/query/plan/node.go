package plan

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/names"
)

// Node is one operation of a plan. Nodes are immutable, and may be used from any goroutine.
type Node interface {
	// Schema is the schema of the rows that the operation yields.
	Schema() *arrow.Schema
	// Inputs are the operations that it reads rows of.
	Inputs() []Node
	// WithInputs returns the same operation on other inputs, of which there are as many.
	// The error is that of the node's constructor.
	WithInputs(inputs ...Node) (Node, error)
	// String describes the operation in one line, without its inputs.
	String() string

	traits
}

// single is the common part of operations with one input.
type single struct {
	cautious
	input  Node
	inputs [1]Node // input
	schema *arrow.Schema
}

// singleOf returns the common part of an operation on an input.
func singleOf(input Node, schema *arrow.Schema) single {
	return single{input: input, inputs: [1]Node{input}, schema: schema}
}

func (s *single) Schema() *arrow.Schema { return s.schema }

func (s *single) Inputs() []Node { return s.inputs[:] }

// Input returns the only input.
func (s *single) Input() Node { return s.input }

// fieldOf returns the field with a name. The error lists the names that there are.
func fieldOf(schema *arrow.Schema, name string) (arrow.Field, error) {
	if at := schema.FieldIndices(name); len(at) > 0 {
		return schema.Field(at[0]), nil
	}
	return arrow.Field{}, fmt.Errorf("%s: %w", names.Unknown("column", name, columnsOf(schema)), buffer.ErrSchema)
}

// columnsOf returns the names of the columns of a schema.
func columnsOf(schema *arrow.Schema) []string {
	list := make([]string, schema.NumFields())
	for i := range list {
		list[i] = schema.Field(i).Name
	}
	return list
}

// checkNames refuses a schema in which two columns have one name.
func checkNames(schema *arrow.Schema) error {
	for i := range schema.NumFields() {
		name := schema.Field(i).Name
		if places := schema.FieldIndices(name); len(places) > 1 {
			return fmt.Errorf("columns %d and %d are both named %q: give one of them another name with As or Rename: %w", places[0], places[1], name, buffer.ErrSchema)
		}
	}
	return nil
}

// Walk calls visit for a node and everything below it, each once, inputs after the first node that
// reads them.
func Walk(n Node, visit func(Node)) {
	if IsChain(n) {
		for n != nil {
			visit(n)
			n = below(n)
		}
		return
	}
	seen := map[Node]bool{}
	var walk func(Node)
	walk = func(n Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		visit(n)
		for _, input := range n.Inputs() {
			walk(input)
		}
	}
	walk(n)
}

// IsChain reports whether each node of a plan has one input at most. Then each is read once.
func IsChain(n Node) bool {
	for len(n.Inputs()) == 1 {
		n = below(n)
	}
	return len(n.Inputs()) == 0
}

// below returns the only input of a node, or nil without inputs.
func below(n Node) Node {
	if inputs := n.Inputs(); len(inputs) > 0 {
		return inputs[0]
	}
	return nil
}

// Scans yields the scans of a plan, each once.
func Scans(root Node) (list []*Scan) {
	Walk(root, func(n Node) {
		if scan, ok := n.(*Scan); ok {
			list = append(list, scan)
		}
	})
	return list
}

// node makes a Node of the results of a constructor. A nil pointer becomes a nil Node.
func node[P interface {
	*T
	Node
}, T any](pointer P, err error) (Node, error) {
	if err != nil {
		return nil, err
	}
	return pointer, nil
}
