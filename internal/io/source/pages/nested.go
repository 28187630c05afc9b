package pages

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/source/parquetschema"
)

// Nested is a column of lists and structs, or a part of one: a list, a struct or values. Each value, and each list or struct
// without one, is an entry of a leaf, with two levels. The repetition level is the depth of the list that the entry
// continues. The definition level is the number of the optional parts and lists around it that are there.
type Nested struct {
	// Type is a list, a map, a struct, or that of the values of a leaf.
	Type arrow.DataType
	// Nullable reports whether it has a validity: it is not null if the definition level is at least Definition. Required
	// values, structs with lists, and lists of a fixed size are null where a struct around them is.
	Nullable   bool
	Definition int
	// Depth is the number of lists around it.
	Depth int
	// Element is the definition level from which on a list has an element.
	Element int
	// Leaf is the number of a leaf, or -1. Column is that of its column in the file.
	Leaf, Column int
	Children     []*Nested
}

// NewNested describes a field of a file, which is read as a type.
//
// # Errors
//
// An error wraps [ErrOther]: the type is another one than lists, maps, structs and values.
func NewNested(field parquetschema.Field, t arrow.DataType) (*Nested, error) {
	leaves := 0
	return newNested(field, t, &leaves)
}

func newNested(field parquetschema.Field, t arrow.DataType, leaves *int) (*Nested, error) {
	n := &Nested{Type: t, Nullable: field.Nullable, Definition: field.Definition, Depth: field.Repetition, Leaf: -1, Column: -1}
	var children []arrow.DataType
	switch t := t.(type) {
	case *arrow.ListType:
		children = []arrow.DataType{t.Elem()}
	case *arrow.FixedSizeListType:
		children = []arrow.DataType{t.Elem()}
	case *arrow.MapType:
		children = []arrow.DataType{t.Elem()}
	case *arrow.StructType:
		for _, f := range t.Fields() {
			children = append(children, f.Type)
		}
	default:
		if len(field.Children) > 0 || arrow.IsNested(t.ID()) {
			return nil, fmt.Errorf("%v: %w", t, ErrOther)
		}
		n.Leaf, n.Column, n.Nullable = *leaves, field.Leaf, field.Definition > field.Ancestor
		*leaves++
		return n, nil
	}
	if len(children) != len(field.Children) || len(children) == 0 {
		return nil, fmt.Errorf("%v has %d parts in the file: %w", t, len(field.Children), ErrOther)
	}
	if t.ID() != arrow.STRUCT {
		n.Definition, n.Depth, n.Element = n.Definition-1, n.Depth-1, n.Definition
	}
	if t.ID() == arrow.FIXED_SIZE_LIST { // an array has elements where a struct around it is null, the file none
		n.Nullable = n.Definition > field.Ancestor
	}
	for i, child := range children {
		part, err := newNested(field.Children[i], child, leaves)
		if err != nil {
			return nil, err
		}
		n.Children = append(n.Children, part)
		if t.ID() == arrow.STRUCT && field.Definition > field.Ancestor && part.hasList() {
			n.Nullable = true
		}
	}
	return n, nil
}

// HasFixedLists reports whether there is a list of a fixed size in it.
func (n *Nested) HasFixedLists() bool {
	return n.Type.ID() == arrow.FIXED_SIZE_LIST || slices.ContainsFunc(n.Children, (*Nested).HasFixedLists)
}

// hasList reports whether there is a list in it.
func (n *Nested) hasList() bool {
	return n.Element > 0 || slices.ContainsFunc(n.Children, (*Nested).hasList)
}

// Equal reports whether parts have the same levels.
func (n *Nested) Equal(other *Nested) bool {
	return n.Nullable == other.Nullable && n.Definition == other.Definition && n.Depth == other.Depth && n.Element == other.Element && n.Leaf == other.Leaf &&
		slices.EqualFunc(n.Children, other.Children, (*Nested).Equal)
}

// Leaves calls f for each leaf, in order.
func (n *Nested) Leaves(f func(leaf *Nested)) {
	if n.Leaf >= 0 {
		f(n)
	}
	for _, child := range n.Children {
		child.Leaves(f)
	}
}

// First is the first leaf.
func (n *Nested) First() *Nested {
	for n.Leaf < 0 {
		n = n.Children[0]
	}
	return n
}
