package codegen

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// Limits above which the additional kernel is worth its cost.
const (
	fewestRowsToResolve = 1 << 16
	rowsToValue         = 8
)

// Resolve evaluates a program's subexpressions about the strings of a dictionary once
// per dictionary value, with a separate kernel that it enqueues. It returns a program
// that looks the results up by the codes, and its inputs. The caller passes both on,
// and then calls the function. If the kernel is not worth its cost, Resolve returns the
// program and the inputs unchanged.
func Resolve(call op.Call, program *exprtree.Program, inputs []*column.Column, rows int) (*exprtree.Program, []*column.Column, func() error, error) {
	r := resolver{program: program, inputs: inputs, rows: rows}
	if !r.any() {
		return program, inputs, func() error { return nil }, nil
	}
	resolved, columns, err := r.resolve(call)
	releaseMade := func() error { return release.All(r.results) }
	if err != nil {
		return nil, nil, nil, fmt.Errorf("on a dictionary: %w", errors.Join(err, releaseMade()))
	}
	return resolved, columns, releaseMade, nil
}

type resolver struct {
	program *exprtree.Program
	inputs  []*column.Column
	rows    int
	copies  map[*exprtree.Node]*exprtree.Node
	// types are the types of the new program's inputs. The map has the subexpressions
	// about each dictionary, by input; results are their columns.
	types   []arrow.DataType
	asked   map[int][]*question
	results []*column.Column
}

// question is a subexpression about a dictionary, and the number of the input that has
// its results.
type question struct {
	node  *exprtree.Node
	input int
}

// worth reports whether an input is a dictionary of strings that is much shorter than
// the column.
func (r *resolver) worth(input int) bool {
	t := r.program.Types[input]
	if r.rows < fewestRowsToResolve || layout.Storage(t).ID() != arrow.DICTIONARY || kindOf(t).family != text {
		return false
	}
	return r.inputs[input].Dictionary().Len()*rowsToValue <= r.rows
}

func (r *resolver) any() bool {
	if r.rows < fewestRowsToResolve {
		return false
	}
	for _, n := range r.program.Nodes {
		if _, ok := r.about(n); ok {
			return true
		}
	}
	return false
}

// about returns the only input that a bool or an integer of up to 64 bits depends on, if
// it is null where the input is. It need not be about a column alone, whose values are
// what a look-up gives.
func (r *resolver) about(n *exprtree.Node) (input int, ok bool) {
	if k := kindOf(n.Type); n.Op == exprtree.Column || n.Op == exprtree.Literal || k.family != boolean && k.family != integer {
		return 0, false
	}
	input = r.only(n)
	return input, input >= 0
}

// only returns the only input that a node depends on if it is worth a look-up and the
// node is null where the input is, or else -1; literals return -2.
func (r *resolver) only(n *exprtree.Node) int {
	switch n.Op {
	case exprtree.Literal:
		if n.Value != nil {
			return -2
		}
		return -1
	case exprtree.Column:
		if r.worth(n.Input) {
			return n.Input
		}
		return -1
	}
	nulls := n.Op.Nulls()
	if nulls != exprtree.Strict && nulls != exprtree.Decided {
		return -1
	}
	input := -2
	for _, argument := range n.Arguments {
		switch sole := r.only(argument); {
		case sole == -1, sole == -2 && nulls == exprtree.Decided: // a literal may decide beside a null
			return -1
		case input == -2:
			input = sole
		case sole >= 0 && sole != input:
			return -1
		}
	}
	return input
}

// ask collects the subexpressions about dictionaries, and returns the outputs of the
// program that looks their results up.
func (r *resolver) ask() (outputs []*exprtree.Node) {
	r.copies, r.asked = map[*exprtree.Node]*exprtree.Node{}, map[int][]*question{}
	r.types = append(r.types, r.program.Types...)
	for _, output := range r.program.Outputs {
		outputs = append(outputs, r.copy(output))
	}
	return outputs
}

func (r *resolver) resolve(call op.Call) (*exprtree.Program, []*column.Column, error) {
	outputs := r.ask()
	columns := append([]*column.Column{}, r.inputs...)
	columns = append(columns, make([]*column.Column, len(r.types)-len(columns))...)
	for input, questions := range r.asked {
		if err := r.answer(call, input, questions, columns); err != nil {
			return nil, nil, err
		}
	}
	return exprtree.NewProgram(make([]int, len(r.types)), r.types, outputs), columns, nil
}

// copy copies a node for the new program. Inputs with results replace the
// subexpressions.
func (r *resolver) copy(n *exprtree.Node) *exprtree.Node {
	if c := r.copies[n]; c != nil {
		return c
	}
	c := *n
	r.copies[n] = &c
	if input, ok := r.about(n); ok {
		index := layout.Storage(r.program.Types[input]).(*arrow.DictionaryType).IndexType
		answers := &arrow.DictionaryType{IndexType: index, ValueType: n.Type}
		looked := &exprtree.Node{Op: exprtree.Column, Type: answers, Input: len(r.types)}
		r.asked[input] = append(r.asked[input], &question{n, looked.Input})
		r.types = append(r.types, answers)
		// Coalesce of one operand has its type and is null if the value is.
		c = exprtree.Node{Op: exprtree.Coalesce, Type: n.Type, Arguments: []*exprtree.Node{looked}}
		return &c
	}
	c.Arguments = make([]*exprtree.Node, len(n.Arguments))
	for i, argument := range n.Arguments {
		c.Arguments[i] = r.copy(argument)
	}
	return &c
}

// programOf returns the program that computes subexpressions for the values of a
// dictionary.
func programOf(questions []*question, dictionary *column.Column) *exprtree.Program {
	var outputs []*exprtree.Node
	for _, question := range questions {
		outputs = append(outputs, ofValues(question.node, dictionary.Type()))
	}
	return exprtree.NewProgram([]int{0}, []arrow.DataType{dictionary.Type()}, outputs)
}

// answer evaluates the subexpressions about one dictionary.
func (r *resolver) answer(call op.Call, input int, questions []*question, columns []*column.Column) error {
	codes := r.inputs[input]
	dictionary := codes.Dictionary()
	call.Tag = op.ScratchTag
	answers, err := runOne(call, programOf(questions, dictionary), []*column.Column{dictionary}, memory.Slice[int64]{}, dictionary.Len(), dictionary.Len() <= fewRows)
	if err != nil {
		return err
	}
	for i, question := range questions {
		data := codes.Data()
		data.Type, data.Dictionary = r.types[question.input], answers[i] // and the row count
		c, failure := column.New(data)
		if err = errors.Join(err, failure); failure == nil {
			columns[question.input] = c
			r.results = append(r.results, c)
		}
	}
	return errors.Join(err, release.All(answers))
}

// ofValues copies a subexpression for evaluation on the dictionary's values.
func ofValues(n *exprtree.Node, values arrow.DataType) *exprtree.Node {
	c := *n
	if n.Op == exprtree.Column {
		c.Type, c.Input = values, 0
		return &c
	}
	c.Arguments = make([]*exprtree.Node, len(n.Arguments))
	for i, argument := range n.Arguments {
		c.Arguments[i] = ofValues(argument, values)
	}
	return &c
}
