package rowgroups

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/bitutil"
)

// shredder divides columns of lists, maps and structs into the entries of a leaf.
type shredder struct {
	leaf   *leaf
	levels levels
	nodes  []shredNode
	// spans are the values of the current array.
	spans []span
	count int // of all values
	err   error
}

// shredNode is an array on the way to the leaf at which entries end or are divided. Arrays without nulls and structs have none.
type shredNode struct {
	kind nodeKind
	// definition and depth are the levels of the entries that end here.
	definition, depth uint8
	// bits have the validity of the element 0 at offset.
	bits     []byte
	offset   int
	lists    array.ListLike
	elements int // of all lists
}

type nodeKind uint8

const (
	nodeValues  nodeKind = iota
	nodeNulls            // entries end at nulls
	nodeNoNulls          // nulls are an error
	nodeLists
)

// shred adds the entries of an array, and returns the array of its leaf, and the values there.
func (s *shredder) shred(column arrow.Array) (arrow.Array, []span, error) {
	values := s.enter(column)
	s.spans = s.spans[len(s.spans):]
	s.visit(0, 0, column.Len(), 0)
	return values, s.spans, s.err
}

// enter finds the nodes of an array, and returns that of its leaf.
func (s *shredder) enter(a arrow.Array) arrow.Array {
	s.nodes = s.nodes[:0]
	definition, depth := uint8(0), uint8(0)
	used := span{0, a.Len()} // the elements that are not cut off
	most := a.Len()          // of entries
	for _, at := range s.leaf.path {
		node := shredNode{definition: definition, depth: depth}
		if a.NullN() > 0 {
			node.kind, node.bits, node.offset = nodeNoNulls, a.NullBitmapBytes(), a.Data().Offset()
			if at.nullable {
				node.kind = nodeNulls
			}
			s.nodes = append(s.nodes, node)
		}
		if at.nullable {
			definition++
			node.definition = definition
		}
		switch at.kind {
		case stepStruct:
			a = a.(*array.Struct).Field(at.field)
		case stepList:
			node.kind, node.lists = nodeLists, a.(array.ListLike)
			a = node.lists.ListValues()
			node.elements = a.Len()
			s.nodes = append(s.nodes, node)
			used = node.elementsOf(used)
			most += used.end - used.from
			definition, depth = definition+1, depth+1
		default:
			node.kind = nodeValues
			s.nodes = append(s.nodes, node)
		}
	}
	s.levels.reserve(most)
	return a
}

// elementsOf returns the elements from the first of some lists to the last one.
func (n *shredNode) elementsOf(lists span) span {
	if lists.from == lists.end {
		return span{}
	}
	from, _ := n.lists.ValueOffsets(lists.from)
	_, end := n.lists.ValueOffsets(lists.end - 1)
	if from < 0 || end < from || end > int64(n.elements) {
		return span{} // which is an error if a value refers to them
	}
	return span{int(from), int(end)}
}

// visit adds the entries of elements of the array of a node. The first one continues a number of lists.
func (s *shredder) visit(at, from, end int, first uint8) {
	if from == end || s.err != nil {
		return
	}
	node := &s.nodes[at]
	switch node.kind {
	case nodeLists:
		s.visitLists(at, from, end, first)
	case nodeNulls, nodeNoNulls:
		s.visitNulls(at, from, end, first)
	default:
		s.levels.add(end-from, node.definition, first, node.depth)
		s.count += end - from
		if last := len(s.spans) - 1; last >= 0 && s.spans[last].end == from {
			s.spans[last].end = end
		} else {
			s.spans = append(s.spans, span{from, end})
		}
	}
}

func (s *shredder) visitNulls(at, from, end int, first uint8) {
	node := &s.nodes[at]
	for from < end {
		valid := bitutil.BitIsSet(node.bits, node.offset+from)
		stop := from + 1
		for stop < end && bitutil.BitIsSet(node.bits, node.offset+stop) == valid {
			stop++
		}
		switch {
		case valid:
			s.visit(at+1, from, stop, first)
		case node.kind == nodeNulls:
			s.levels.add(stop-from, node.definition, first, node.depth)
		default:
			s.err = fmt.Errorf("column %q has nulls, by its schema it has none: %w", s.leaf.name, ErrValue)
			return
		}
		from, first = stop, node.depth
	}
}

func (s *shredder) visitLists(at, from, end int, first uint8) {
	node := &s.nodes[at]
	for ; from < end; from++ {
		begin, stop := node.lists.ValueOffsets(from)
		switch {
		case begin == stop:
			s.levels.add(1, node.definition, first, node.depth)
		case 0 <= begin && begin < stop && stop <= int64(node.elements):
			s.visit(at+1, int(begin), int(stop), first)
		default:
			s.err = fmt.Errorf("column %q has a list of the elements from %d to %d of %d: %w", s.leaf.name, begin, stop, node.elements, ErrValue)
			return
		}
		first = node.depth
	}
}
