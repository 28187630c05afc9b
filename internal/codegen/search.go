package codegen

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/release"
	"github.com/gpuframe/gpuframe/internal/textrows"
	"github.com/gpuframe/gpuframe/memory"
)

// Whether the strings of a large column have a literal is computed before the kernel that
// needs the answers: a search in the order of the memory reads whole lines of it, where
// threads with a row each read a few bytes of many.

// searched returns the column and the literal of a node that is such a question.
func searched(n *exprtree.Node) (number int, literal string, ok bool) {
	if n.Op != exprtree.GreaterEqual || n.Arguments[0].Op != exprtree.Seek || !isZero(n.Arguments[1]) {
		return 0, "", false
	}
	seek := n.Arguments[0].Arguments
	if seek[0].Op != exprtree.Column || seek[1].Op != exprtree.Literal || !isZero(seek[2]) {
		return 0, "", false
	}
	literal, ok = seek[1].Value.(string)
	return seek[0].Input, literal, ok && textrows.Finds(literal)
}

func isZero(n *exprtree.Node) bool {
	value, ok := n.Value.(int64)
	return n.Op == exprtree.Literal && ok && value == 0
}

// searches returns the nodes of a program that are questions to large columns.
func searches(program *exprtree.Program, inputs []*column.Column, capacity int) (nodes []*exprtree.Node) {
	for _, n := range program.Nodes {
		number, _, ok := searched(n)
		if !ok {
			continue
		}
		if whole, ok := textrows.WholeOf(inputs[number], capacity, memory.Slice[int64]{}); ok && whole.Data.Len() >= textrows.FewestBytes {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// search makes the column of answers.
func (s *stager) search(n *exprtree.Node) (made *column.Column, err error) {
	number, literal, _ := searched(n)
	whole, _ := textrows.WholeOf(s.inputs[number], s.capacity, s.rows)
	valid, releaseValid, err := s.validity(n.Arguments[0].Arguments[0], number)
	if err != nil {
		return nil, err
	}
	made, err = whole.Contains(&s.call, literal, valid)
	return release.OnError(made, err, releaseValid())
}

// validity computes the bitmap of the rows of a column that are not null, if it can have
// nulls. The caller calls the function when the bitmap is in use.
func (s *stager) validity(n *exprtree.Node, number int) (memory.Slice[uint8], func() error, error) {
	if !op.Nullable(s.inputs[number]) {
		return memory.Slice[uint8]{}, func() error { return nil }, nil
	}
	sub := s.part([]*exprtree.Node{{Op: exprtree.IsValid, Type: arrow.FixedWidthTypes.Boolean, Arguments: []*exprtree.Node{n}}})
	results, err := runOne(s.call, sub.program(), sub.inputs, s.rows, s.capacity, s.capacity <= fewRows)
	if err != nil {
		return memory.Slice[uint8]{}, nil, err
	}
	return results[0].Buffer(1), func() error { return release.All(results) }, nil
}
