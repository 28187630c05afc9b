package codegen

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/textrows"
	"github.com/gpuframe/gpuframe/memory"
)

// A kernel computes no strings, because the length of a string is not fixed. It reads
// parts of strings in the memory of columns. All other strings are made in stages before
// the kernel that reads them: see stager.

// readable reports whether a kernel can read a string: the bytes of each row are in a
// column.
func readable(n *exprtree.Node) bool {
	switch n.Op {
	case exprtree.Column:
		return true
	case exprtree.ByteRange:
		return readable(n.Arguments[0])
	case exprtree.IfElse, exprtree.Coalesce:
		for _, argument := range n.Arguments {
			if argument.Kind() == exprtree.String && !readable(argument) {
				return false
			}
		}
		return true
	}
	return false
}

// placeable reports whether a kernel can say where the bytes of a string are: in a column
// or in a literal.
func placeable(n *exprtree.Node) bool {
	switch n.Op {
	case exprtree.Literal:
		return true
	case exprtree.ByteRange:
		return n.Arguments[0].Op == exprtree.Literal || readable(n)
	case exprtree.IfElse, exprtree.Coalesce:
		if n.Op == exprtree.IfElse && len(n.Arguments) > mostChoices {
			return false
		}
		for _, argument := range n.Arguments {
			if argument.Kind() == exprtree.String && !placeable(argument) {
				return false
			}
		}
		return true
	}
	return readable(n)
}

// takesPlaces reports whether an operation is computed with the places of strings, not
// with their bytes.
func takesPlaces(op exprtree.Op) bool {
	switch op {
	case exprtree.IfElse, exprtree.Coalesce, exprtree.Join, exprtree.Upper, exprtree.Lower, exprtree.Reverse, exprtree.Replace,
		exprtree.IsNull, exprtree.IsValid:
		return true
	}
	return false
}

// MakesStrings reports whether a program makes strings, or other operands, before its kernel runs. [Run] does
// so; an operator that writes the program into its own kernel evaluates it first.
func MakesStrings(program *exprtree.Program) bool { return len(staged(program)) > 0 }

// staged returns the strings of a program that are made before its kernel runs, operands
// before those that use them, the choices among too many literals, and operands of expressions whose
// columns and literals do not fit the arguments of a kernel.
func staged(program *exprtree.Program) (nodes []*exprtree.Node) {
	wanted := map[*exprtree.Node]bool{}
	for _, n := range program.Nodes {
		for _, argument := range n.Arguments {
			if argument.Kind() != exprtree.String || argument.Op == exprtree.Column || argument.Op == exprtree.Literal {
				continue
			}
			if takesPlaces(n.Op) && !placeable(argument) || !takesPlaces(n.Op) && !readable(argument) {
				wanted[argument] = true
			}
		}
	}
	for _, output := range program.Outputs {
		if output.Kind() == exprtree.String && output.Op != exprtree.Column {
			wanted[output] = true
		}
	}
	for _, n := range program.Nodes {
		if len(program.Literals) > mostLiterals && n.Op == exprtree.IfElse && len(n.Arguments) > mostChoices+1 {
			wanted[n] = true
		}
	}
	oversized(program, wanted)
	for _, n := range program.Nodes {
		if wanted[n] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// mostChoices is the greatest number of operands, without the last one, of a choice that one kernel makes: the literals
// among them are arguments of the kernel.
const mostChoices = 32

// mostLiterals is the greatest number of literals of a program whose choices are not made apart. A kernel takes 448.
const mostLiterals = 256

// split makes a choice with too many operands in parts, the last conditions first. It returns a choice that has the
// string of the others as its last operand.
func (s *stager) split(n *exprtree.Node) (*exprtree.Node, error) {
	if n.Op != exprtree.IfElse || len(n.Arguments) <= mostChoices+1 {
		return n, nil
	}
	rest := n.Arguments
	begin := (len(rest) - 2) / mostChoices * mostChoices
	others := &exprtree.Node{Op: n.Op, Type: n.Type, Arguments: rest[begin:]}
	for begin > 0 {
		if err := s.add(others); err != nil {
			return nil, err
		}
		begin -= mostChoices
		others = &exprtree.Node{Op: n.Op, Type: n.Type, Arguments: append(slices.Clone(rest[begin:begin+mostChoices]), others)}
	}
	return others, nil
}

// add makes a string, which becomes another input.
func (s *stager) add(n *exprtree.Node) error {
	c, err := s.make(n)
	if err != nil {
		return fmt.Errorf("%v: %w", n.Op, err)
	}
	s.numbers[n] = len(s.inputs)
	s.inputs, s.types, s.columns = append(s.inputs, c), append(s.types, n.Type), append(s.columns, c)
	return nil
}

// stager makes the strings of a program. Every node that is made becomes another input.
type stager struct {
	call     op.Call
	types    []arrow.DataType
	inputs   []*column.Column
	rows     memory.Slice[int64]
	capacity int
	// numbers has the nodes that are made, with the numbers of their inputs; columns are
	// those to release.
	numbers map[*exprtree.Node]int
	columns []*column.Column
}

// stage makes the strings that a program needs. It returns the program without them, and
// its inputs.
func (s *stager) stage(program *exprtree.Program, nodes []*exprtree.Node) (*exprtree.Program, []*column.Column, error) {
	for _, n := range nodes {
		if err := s.add(n); err != nil {
			return nil, nil, err
		}
	}
	rest := s.part(program.Outputs)
	return rest.program(), rest.inputs, nil
}

// makeWhole makes the strings of a function of all bytes of a large column, or of all
// occurrences of a literal in them. It returns nil for other strings.
func (s *stager) makeWhole(n *exprtree.Node) (written *column.Column, err error) {
	var old, with string
	switch n.Op {
	case exprtree.Upper, exprtree.Lower:
	case exprtree.Replace:
		old, with = n.Arguments[1].Value.(string), n.Arguments[2].Value.(string)
		if !textrows.Replaces(old, with) {
			return nil, nil
		}
	default:
		return nil, nil
	}
	number, ok := s.numbers[n.Arguments[0]]
	if !ok {
		if n.Arguments[0].Op != exprtree.Column {
			return nil, nil
		}
		number = n.Arguments[0].Input
	}
	whole, ok := textrows.WholeOf(s.inputs[number], s.capacity, s.rows)
	if !ok || whole.Data.Len() < textrows.FewestBytes {
		return nil, nil
	}
	whole.Type = n.Type
	var valid memory.Slice[uint8]
	if op.Nullable(s.inputs[number]) {
		sub := s.part([]*exprtree.Node{{Op: exprtree.IsValid, Type: arrow.FixedWidthTypes.Boolean, Arguments: n.Arguments[:1]}})
		results, err := runOne(s.call, sub.program(), sub.inputs, s.rows, s.capacity, s.capacity <= fewRows)
		if err != nil {
			return nil, err
		}
		defer func() { written, err = release.OnError(written, err, release.All(results)) }()
		valid = results[0].Buffer(1)
	}
	switch n.Op {
	case exprtree.Upper:
		return whole.Case(&s.call, textrows.Upper, valid)
	case exprtree.Lower:
		return whole.Case(&s.call, textrows.Lower, valid)
	}
	return whole.Replace(&s.call, old, with, valid)
}

// make computes where the parts of a string are, and makes the column.
func (s *stager) make(n *exprtree.Node) (written *column.Column, err error) {
	if written, err = s.makeWhole(n); written != nil || err != nil {
		return written, err
	}
	if n, err = s.split(n); err != nil {
		return nil, err
	}
	if n.Kind() != exprtree.String {
		part := s.part([]*exprtree.Node{n})
		values, err := runOne(s.call, part.program(), part.inputs, s.rows, s.capacity, s.capacity <= fewRows)
		if err != nil {
			return nil, err
		}
		return values[0], nil
	}
	kind, parts := textrows.Copied, []*exprtree.Node{n}
	switch n.Op {
	case exprtree.Join:
		parts = n.Arguments
	case exprtree.Upper:
		kind, parts = textrows.Upper, n.Arguments
	case exprtree.Lower:
		kind, parts = textrows.Lower, n.Arguments
	case exprtree.Reverse:
		kind, parts = textrows.Reversed, n.Arguments
	case exprtree.Replace:
		kind, parts = textrows.Replaced, n.Arguments[:1]
	case exprtree.Format:
		kind, parts = textrows.Formatted, n.Arguments
		if n.Arguments[0].Kind().IsSigned() {
			kind = textrows.FormattedSigned
		}
	}
	boolean, int64Type, places := arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64
	var valid *exprtree.Node
	var outputs []*exprtree.Node
	for _, part := range parts {
		present := &exprtree.Node{Op: exprtree.IsValid, Type: boolean, Arguments: []*exprtree.Node{part}}
		if valid == nil {
			valid = present
		} else {
			valid = &exprtree.Node{Op: exprtree.AndStrict, Type: boolean, Arguments: []*exprtree.Node{valid, present}}
		}
		if n.Op == exprtree.Format {
			word := &exprtree.Node{Op: exprtree.CastWrap, Type: places, Arguments: []*exprtree.Node{part}}
			outputs = append(outputs, word, word)
			continue
		}
		outputs = append(outputs, &exprtree.Node{Op: exprtree.TextPlace, Type: places, Arguments: []*exprtree.Node{part}},
			&exprtree.Node{Op: exprtree.LengthBytes, Type: int64Type, Arguments: []*exprtree.Node{part}})
	}
	sub := s.part(append(outputs, valid))
	program := sub.program()
	call := s.call
	call.Tag = op.ScratchTag
	results, err := runOne(call, program, sub.inputs, s.rows, s.capacity, s.capacity <= fewRows)
	if err != nil {
		return nil, err
	}
	defer func() { written, err = release.OnError(written, err, release.All(results)) }()
	r := textrows.Rows{Type: n.Type, Kind: kind, Capacity: s.capacity, Count: s.rows, Valid: results[len(outputs)].Buffer(1)}
	for i := 0; i < len(outputs); i += 2 {
		r.Parts = append(r.Parts, textrows.Part{Places: results[i].Buffer(1), Lengths: results[i+1].Buffer(1)})
	}
	for _, c := range sub.inputs {
		r.Sources = append(r.Sources, dataOf(c))
	}
	for _, literal := range program.Literals {
		value, _ := literal.Value.(string)
		r.Literals = append(r.Literals, value)
	}
	if kind == textrows.Replaced {
		r.Old, r.With = len(r.Literals), len(r.Literals)+1
		r.Literals = append(r.Literals, n.Arguments[1].Value.(string), n.Arguments[2].Value.(string))
	}
	return textrows.Make(s.call, r)
}

// dataOf returns the memory of the strings of a column, from the first one on if they have
// a fixed width, or nothing for other columns. It begins where addText says.
func dataOf(c *column.Column) memory.Slice[uint8] {
	if dictionary := c.Dictionary(); dictionary != nil {
		c = dictionary
	}
	if exprtree.KindOf(c.Type()) != exprtree.String {
		return memory.Slice[uint8]{}
	}
	if fixed, ok := layout.Storage(c.Type()).(*arrow.FixedSizeBinaryType); ok {
		values := c.Buffer(1)
		if rest, err := values.Slice(min(c.Offset()*fixed.ByteWidth, values.Len()), values.Len()); err == nil {
			return rest
		}
		return memory.Slice[uint8]{}
	}
	return c.Buffer(2)
}

// subprogram is some nodes of a program, without the strings that are made, and the inputs
// that they use.
type subprogram struct {
	stager  *stager
	outputs []*exprtree.Node
	copies  map[*exprtree.Node]*exprtree.Node
	numbers map[int]int
	types   []arrow.DataType
	inputs  []*column.Column
}

func (s *stager) part(outputs []*exprtree.Node) *subprogram {
	p := &subprogram{stager: s, copies: map[*exprtree.Node]*exprtree.Node{}, numbers: map[int]int{}}
	for _, output := range outputs {
		p.outputs = append(p.outputs, p.copy(output))
	}
	return p
}

func (p *subprogram) program() *exprtree.Program {
	return exprtree.NewProgram(make([]int, len(p.types)), p.types, p.outputs)
}

func (p *subprogram) copy(n *exprtree.Node) *exprtree.Node {
	if c := p.copies[n]; c != nil {
		return c
	}
	c := *n
	p.copies[n] = &c
	if input, ok := p.stager.numbers[n]; ok {
		c = exprtree.Node{Op: exprtree.Column, Type: n.Type, Input: p.input(input)}
		return &c
	}
	if n.Op == exprtree.Column {
		c.Input = p.input(n.Input)
		return &c
	}
	c.Arguments = make([]*exprtree.Node, len(n.Arguments))
	for i, argument := range n.Arguments {
		c.Arguments[i] = p.copy(argument)
	}
	return &c
}

// input returns the number of an input of the stager among those of the part.
func (p *subprogram) input(number int) int {
	own, ok := p.numbers[number]
	if !ok {
		own = len(p.inputs)
		p.numbers[number] = own
		p.inputs, p.types = append(p.inputs, p.stager.inputs[number]), append(p.types, p.stager.types[number])
	}
	return own
}

// runStaged is Run for a program with strings that are made.
func runStaged(call op.Call, program *exprtree.Program, nodes []*exprtree.Node, inputs []*column.Column, rows memory.Slice[int64], capacity int) (results []*column.Column, err error) {
	s := &stager{call: call, types: append([]arrow.DataType{}, program.Types...), inputs: append([]*column.Column{}, inputs...),
		rows: rows, capacity: capacity, numbers: map[*exprtree.Node]int{}}
	defer func() {
		if err = errors.Join(err, release.All(s.columns)); err != nil {
			results, err = nil, errors.Join(err, release.All(results))
		}
	}()
	rest, columns, err := s.stage(program, nodes)
	if err != nil {
		return nil, err
	}
	// The outputs that are not made come from one kernel.
	var computed []*exprtree.Node
	for _, output := range rest.Outputs {
		if output.Op != exprtree.Column {
			computed = append(computed, output)
		}
	}
	var values []*column.Column
	if len(computed) > 0 {
		if values, err = Run(call, exprtree.NewProgram(rest.Inputs, rest.Types, computed), columns, rows, capacity); err != nil {
			return nil, err
		}
	}
	for _, output := range rest.Outputs {
		if output.Op != exprtree.Column {
			results, values = append(results, values[0]), values[1:]
			continue
		}
		c := columns[output.Input]
		err = errors.Join(err, c.Retain())
		results = append(results, c)
	}
	return results, err
}
