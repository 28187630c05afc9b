package exprtree

import (
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
)

// Program is what expressions and a schema make: what to load and what to compute.
// Programs are immutable and may be used from any goroutine.
type Program struct {
	// Inputs are the columns that are loaded, each once, by their place in the
	// schema; Types their types.
	Inputs []int
	Types  []arrow.DataType
	// Outputs are the expressions.
	Outputs []*Node
	// Nodes are all the nodes, each once, operands ahead of what uses them.
	Nodes []*Node
	// Literals are the literals by their slots.
	Literals []*Node
	// Key names the shape: the operations and types, without names of columns or
	// values of literals, but for what [Node.AlwaysDefined] says of these. Programs of
	// one key share their code.
	Key string
}

// NewProgram makes a program of nodes whose Columns count in the inputs. It numbers
// the literals and writes the key, so the nodes must belong to no other program.
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
