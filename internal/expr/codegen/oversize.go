package codegen

import (
	"cmp"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// A kernel has 4,096 bytes of arguments, which the columns and literals of a long expression do not
// fit. Then operands are computed by kernels before it, and become columns.

// wordsOfMade is the most words of a column that a kernel before has computed.
const wordsOfMade = 5

// oversized adds operands of the nodes of a program that are computed apart, so that the columns
// and literals of each kernel fit its arguments. apart are the nodes that are computed apart already.
func oversized(program *exprtree.Program, apart map[*exprtree.Node]bool) {
	words := 0
	for _, t := range program.Types {
		words += wordsOfInput(t)
	}
	for _, literal := range program.Literals {
		words += wordsOfLiteral(literal)
	}
	if words <= mostWords {
		return
	}
	leaves := map[*exprtree.Node]leafSet{}
	for _, n := range program.Nodes {
		own := leafSet{}
		switch {
		case apart[n], n.Op == exprtree.Column, n.Op == exprtree.Literal:
			own.add(n, program.Types, apart)
		default:
			own.ofOperands(n, leaves, program.Types, apart)
		}
		leaves[n] = own
	}
}

// leafSet is the columns and literals that a node is computed from, with their words.
type leafSet struct {
	nodes map[*exprtree.Node]int
	words int
}

func (s *leafSet) add(n *exprtree.Node, types []arrow.DataType, apart map[*exprtree.Node]bool) {
	if _, known := s.nodes[n]; known {
		return
	}
	words := wordsOfMade
	switch {
	case apart[n]:
	case n.Op == exprtree.Column:
		words = wordsOfInput(types[n.Input])
	default:
		words = wordsOfLiteral(n)
	}
	if s.nodes == nil {
		s.nodes = map[*exprtree.Node]int{}
	}
	s.nodes[n], s.words = words, s.words+words
}

func (s *leafSet) addAll(others leafSet) {
	if s.nodes == nil && others.nodes != nil {
		s.nodes, s.words = maps.Clone(others.nodes), others.words
		return
	}
	for n, words := range others.nodes {
		if _, known := s.nodes[n]; !known {
			s.nodes[n], s.words = words, s.words+words
		}
	}
}

// ofOperands unites the leaves of the operands of a node. If they are too many, the operands of most words are computed
// apart until the others fit.
func (s *leafSet) ofOperands(n *exprtree.Node, leaves map[*exprtree.Node]leafSet, types []arrow.DataType, apart map[*exprtree.Node]bool) {
	unite := func() {
		*s = leafSet{}
		for _, argument := range n.Arguments {
			s.addAll(leaves[argument])
		}
	}
	if unite(); s.words <= mostWords {
		return
	}
	largest := slices.Clone(n.Arguments)
	slices.SortStableFunc(largest, func(x, y *exprtree.Node) int { return cmp.Compare(leaves[y].words, leaves[x].words) })
	for _, argument := range largest {
		if s.words <= mostWords || leaves[argument].words <= wordsOfMade {
			return
		}
		if apart[argument] || argument.Op == exprtree.Column || argument.Op == exprtree.Literal {
			continue
		}
		apart[argument] = true
		own := leafSet{}
		own.add(argument, types, apart)
		leaves[argument] = own
		unite()
	}
}

// wordsOfLiteral is the number of words of a literal: see positionsOf.
func wordsOfLiteral(literal *exprtree.Node) int {
	switch class := literalOf(literal); {
	case class > ValueLiteral:
		return 1 + class.words()
	case kindOf(literal.Type).family == decimal:
		return 2
	}
	return 1
}

// wordsOfInput is the greatest number of words of a column of a type: see positionsOf.
func wordsOfInput(t arrow.DataType) int {
	if dictionary, ok := layout.Storage(t).(*arrow.DictionaryType); ok {
		return 4 + wordsOfInput(dictionary.ValueType)
	}
	switch kindOf(t).family {
	case text:
		return 5
	case unknown:
		return 2
	case boolean:
		return 4
	}
	return 3
}
