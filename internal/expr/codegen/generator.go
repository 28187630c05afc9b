package codegen

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// Generator writes the evaluation of a program into functions that are being built. It
// is not safe for concurrent use.
type Generator struct {
	program   *exprtree.Program
	shape     Shape
	parameter string
	positions wordPositions
	numbers   *numbering
	functions map[string]bool
	// given is the index plus one of the input that holes are given the values of.
	given int
}

// Value is the value of a node in one row.
type Value struct {
	// Registers hold the value: one register, or two for decimal128, the low word
	// first. Bools are predicates; integers of fewer than 32 bits are extended to 32.
	Registers []ptx.Register
	// Valid is a predicate, or "" for a value that is never null. The registers of a
	// null are undefined.
	Valid ptx.Register
	Class ptx.Class
	Type  arrow.DataType
	kind  kind
}

// New returns a generator. argumentsParameter names the kernel's parameter, a struct of
// [Generator.Words] words of 8 bytes with the words of [Generator.Arguments].
func New(program *exprtree.Program, shape Shape, argumentsParameter string) (*Generator, error) {
	if len(shape.Inputs) != len(program.Types) || len(shape.Literals) != len(program.Literals) {
		return nil, fmt.Errorf("a shape of %d inputs and %d literals for a program of %d and %d: %w",
			len(shape.Inputs), len(shape.Literals), len(program.Types), len(program.Literals), device.ErrInvalidValue)
	}
	g := &Generator{program: program, shape: shape, parameter: argumentsParameter,
		positions: positionsOf(program, shape), numbers: newNumbering(), functions: map[string]bool{}}
	for i, literal := range shape.Literals {
		if literal.words() > mostTextWords {
			return nil, fmt.Errorf("literal %d is a string of more than %d bytes: %w", i, 8*mostTextWords, device.ErrNotSupported)
		}
	}
	if g.Words() > mostWords {
		return nil, fmt.Errorf("%d columns and %d literals in one expression take %d bytes of arguments, a kernel has %d: evaluate parts of it: %w",
			len(program.Types), len(program.Literals), 8*g.Words(), 8*mostWords, device.ErrNotSupported)
	}
	return g, nil
}

// mostWords limits the arguments to leave room for other parameters in the 4,096 bytes
// of a kernel.
const mostWords = 4096/8 - 64

// Words returns the number of 8-byte words of the arguments, at least one.
func (g *Generator) Words() int { return max(g.positions.words, 1) }

// Rows writes the evaluation of rows, and returns the outputs by row. The row numbers
// are in 64-bit registers and less than the length of the columns. The loads of all
// rows come first.
func (g *Generator) Rows(b *ptx.Builder, rows []ptx.Register) ([][]Value, error) {
	indices := make([]rowIndex, len(rows))
	for i, row := range rows {
		indices[i] = rowIndex{row: row}
	}
	return g.evaluate(b, indices, nil, nil)
}

// Strided writes the evaluation of count rows: first, first + stride and so on. It
// takes fewer instructions than [Generator.Rows], especially if the stride is a
// multiple of 32.
func (g *Generator) Strided(b *ptx.Builder, first ptx.Register, count, stride int) ([][]Value, error) {
	return g.evaluate(b, strided(first, count, stride), nil, nil)
}

// Guarded is [Generator.Strided] with one predicate per row that holds if the row
// exists. For other rows nothing is loaded, and the outputs are undefined. If short is
// set the number of the first row is in a 32-bit register, which takes fewer
// instructions.
func (g *Generator) Guarded(b *ptx.Builder, first ptx.Register, short bool, inside []ptx.Register, stride int) ([][]Value, error) {
	indices := strided(first, len(inside), stride)
	for i := range indices {
		indices[i].short, indices[i].inside = short, inside[i]
	}
	return g.evaluate(b, indices, nil, nil)
}

// GuardedEach is [Generator.Guarded] that calls each with the outputs of a row after the evaluation
// of the row: the instructions that each adds come before those of the next row, so few registers
// stay alive. The loads of all rows come first.
func (g *Generator) GuardedEach(b *ptx.Builder, first ptx.Register, inside []ptx.Register, stride int, each func(row int, values []Value)) error {
	indices := strided(first, len(inside), stride)
	for i := range indices {
		indices[i].inside = inside[i]
	}
	_, err := g.evaluate(b, indices, nil, each)
	return err
}

// Word returns the operand of a load from a word of the arguments, or of those behind them.
func (g *Generator) Word(number int) ptx.Register { return g.word(number) }

// Holds returns the predicate that a bool is true and not null.
func Holds(b *ptx.Builder, v Value) ptx.Register { return holds(b, v) }

func strided(first ptx.Register, count, stride int) []rowIndex {
	indices := make([]rowIndex, count)
	for i := range indices {
		indices[i] = rowIndex{row: first, add: i * stride}
	}
	return indices
}

// evaluate writes the evaluation of rows. It takes the values of the given input from
// registers, if there are any. It calls each, unless nil, after the evaluation of each
// row, so that its instructions come before the next row's and few registers stay
// alive.
func (g *Generator) evaluate(b *ptx.Builder, indices []rowIndex, given map[rowIndex]ptx.Register, each func(row int, values []Value)) ([][]Value, error) {
	loads := newLoader(g, b)
	loads.given = given
	inputs := make([][]loaded, len(indices))
	for i := range indices {
		inputs[i] = make([]loaded, len(g.program.Types))
	}
	for _, input := range g.used() {
		for i, index := range indices {
			inputs[i][input] = loads.load(input, index)
		}
	}
	for _, input := range g.used() {
		for i := range indices {
			inputs[i][input] = loads.finish(input, inputs[i][input])
		}
	}
	results := make([][]Value, len(indices))
	for i := range indices {
		l := newLane(g, b, inputs[i], loads)
		for _, output := range g.program.Outputs {
			if i == 0 {
				b.Comment("%s", describe(output))
			}
			results[i] = append(results[i], l.value(output))
		}
		if l.err != nil {
			return nil, l.err
		}
		if each != nil {
			each(i, results[i])
		}
	}
	return results, nil
}

// used returns the inputs that an output depends on.
func (g *Generator) used() []int {
	used := make([]bool, len(g.program.Types))
	for _, n := range g.program.Nodes {
		if n.Op == exprtree.Column {
			used[n.Input] = true
		}
	}
	var inputs []int
	for i, isRead := range used {
		if isRead {
			inputs = append(inputs, i)
		}
	}
	return inputs
}

// word returns the operand for a load from the arguments.
func (g *Generator) word(number int) ptx.Register {
	if number == 0 {
		return ptx.Register("[" + g.parameter + "]")
	}
	return ptx.Register(fmt.Sprintf("[%s+%d]", g.parameter, 8*number))
}

// describe names a node in comments of the generated code.
func describe(n *exprtree.Node) string {
	var s strings.Builder
	describeTo(&s, n, 4)
	return s.String()
}

func describeTo(s *strings.Builder, n *exprtree.Node, depth int) {
	switch {
	case n.Op == exprtree.Column:
		fmt.Fprintf(s, "input %d", n.Input)
		return
	case n.Op == exprtree.Literal:
		fmt.Fprintf(s, "literal %d", n.Slot)
		return
	case depth == 0:
		s.WriteString("…")
		return
	}
	fmt.Fprintf(s, "%v(", n.Op)
	for i, argument := range n.Arguments {
		if i > 0 {
			s.WriteString(", ")
		}
		describeTo(s, argument, depth-1)
	}
	s.WriteString(")")
}
