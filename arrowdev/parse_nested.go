package arrowdev

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

// readChildren reads the children. Each must cover the elements that the parent
// refers to.
func (n *node) readChildren(a *cabi.Array, depth int) error {
	want := n.layout.Children()
	if a.NumChildren != int64(want) {
		return n.fault("n_children", "%d, expected %d for %v: %w", a.NumChildren, want, n.layout, ErrInvalid)
	}
	if want == 0 {
		return nil
	}
	if err := checkTable(a.Children); err != nil {
		return n.fault("children", "%w", err)
	}
	n.children = make([]*node, want)
	for i, at := range unsafe.Slice((*uintptr)(address.Pointer(a.Children)), want) {
		draft := node{parser: n.parser, parent: n, number: i}
		if err := checkTable(at); err != nil {
			return faulty(draft.path(), "%w", err)
		}
		t, _ := n.layout.Child(i)
		child, err := n.parser.node((*cabi.Array)(address.Pointer(at)), t, n, i, depth+1)
		if err != nil {
			return err
		}
		n.children[i] = child
		need, ok := n.layout.ChildLength(n.end())
		if n.layout.Kind == layout.RunEnds && i == 1 {
			need = n.children[0].length
		}
		if !ok || child.length < need {
			return child.fault("length", "%d, but %d elements from %d on of %v need %d: %w", child.length, n.length, n.offset, n.layout, need, ErrInvalid)
		}
	}
	if n.layout.Kind == layout.RunEnds {
		return n.children[0].withoutNulls()
	}
	return nil
}

// withoutNulls drops a bitmap that contains no nulls: run ends are never null.
func (n *node) withoutNulls() error {
	if n.nulls > 0 {
		return n.fault("null_count", "%d, but run ends cannot be null: %w", n.nulls, ErrInvalid)
	}
	n.nulls, n.claims[0] = 0, claim{}
	return nil
}

// readDictionary reads the values of a dictionary type.
func (n *node) readDictionary(a *cabi.Array, depth int) (err error) {
	t := n.layout.Dictionary()
	switch {
	case t == nil && a.Dictionary == 0:
		return nil
	case t == nil:
		return n.fault("dictionary", "not NULL, expected NULL for %v: %w", n.layout, ErrInvalid)
	}
	if err := checkTable(a.Dictionary); err != nil {
		return n.fault("dictionary", "%w", err)
	}
	n.dictionary, err = n.parser.node((*cabi.Array)(address.Pointer(a.Dictionary)), t, n, dictionaryNumber, depth+1)
	return err
}

// noNulls refuses nulls in the root of a table, if the null count is known.
func (n *node) noNulls() error {
	if n.nulls > 0 {
		return n.fault("null_count", "%d null rows, which a table cannot represent: import the array as a column: %w", n.nulls, ErrUnsupported)
	}
	return nil
}

// cut slices the children of a table's root to the offset and length of the root.
func (n *node) cut() {
	for _, child := range n.children {
		child.slice(n.offset, n.length)
	}
}

// slice reduces the node to length elements from offset on.
func (n *node) slice(offset, length int) {
	if offset == 0 && length == n.length {
		return
	}
	switch n.nulls {
	case 0:
	case n.length:
		n.nulls = length
	default:
		n.nulls = column.UnknownNullCount
	}
	n.offset, n.length = n.offset+offset, length
	for i := range n.layout.Buffers() {
		c := &n.claims[i]
		if c.bytes > 0 { // shorter than before, or without elements
			c.bytes, _ = n.layout.Extent(n.layout.Buffer(i), n.end())
		}
	}
	if length == 0 {
		n.offset, n.lengths = 0, 0
		for i := range n.claims {
			n.claims[i].bytes = 0
		}
	}
}
