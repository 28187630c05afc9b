package exprtree

import (
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
)

// Program is made of expressions and a schema: the columns to load and the nodes to
// compute. Programs are immutable and safe for concurrent use.
type Program struct {
	// Inputs are the distinct columns to load, as indices of the schema's fields; Types
	// are their types.
	Inputs []int
	Types  []arrow.DataType
	// Outputs are the expressions.
	Outputs []*Node
	// Nodes are the distinct nodes, operands before the nodes that use them.
	Nodes []*Node
	// Literals are the literals by slot.
	Literals []*Node
	// Key identifies the shape: the operations and types, without names of columns or
	// values of literals, except for the result of [Node.AlwaysDefined]. Programs with
	// equal keys share their code. Constants of nodes are part of it.
	Key string
}

// NewProgram makes a program of nodes. The Input of a Column is an index of inputs.
// NewProgram numbers the literals and writes the key, so the nodes must belong to no
// other program.
func NewProgram(inputs []int, types []arrow.DataType, outputs []*Node) *Program {
	p := &Program{Inputs: inputs, Types: types, Outputs: outputs}
	w := keyWriter{program: p, numbers: make(map[*Node]int)}
	for _, t := range types {
		w.key = append(append(w.key, Code(t)...), ' ')
	}
	for _, output := range outputs {
		w.visit(output)
	}
	w.key = append(w.key, '=')
	for _, output := range outputs {
		w.key = strconv.AppendInt(append(w.key, ' '), int64(w.numbers[output]), 10)
	}
	p.Key = string(w.key)
	return p
}

// keyWriter numbers the nodes in the order of their first use.
type keyWriter struct {
	program *Program
	numbers map[*Node]int
	key     []byte
}

func (w *keyWriter) visit(n *Node) {
	if _, seen := w.numbers[n]; seen {
		return
	}
	for _, argument := range n.Arguments {
		w.visit(argument)
	}
	w.numbers[n] = len(w.numbers)
	w.program.Nodes = append(w.program.Nodes, n)
	w.key = append(w.key, n.Op.String()...)
	if n.AlwaysDefined() {
		w.key = append(w.key, '!')
	}
	if n.Constant != 0 {
		w.key = strconv.AppendInt(append(w.key, '#'), n.Constant, 10)
	}
	w.key = append(append(w.key, ':'), Code(n.Type)...)
	switch n.Op {
	case Column:
		w.key = strconv.AppendInt(append(w.key, '@'), int64(n.Input), 10)
	case Literal:
		if n.Value == nil {
			n.Slot = -1
			w.key = append(w.key, "@null"...)
			break
		}
		n.Slot = len(w.program.Literals)
		w.program.Literals = append(w.program.Literals, n)
	default:
		for _, argument := range n.Arguments {
			w.key = strconv.AppendInt(append(w.key, ','), int64(w.numbers[argument]), 10)
		}
	}
	w.key = append(w.key, ';')
}
