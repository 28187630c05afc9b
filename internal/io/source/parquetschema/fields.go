package parquetschema

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// ErrType reports a column that Arrow has no type for.
var ErrType = errors.New("the column has no type in Arrow")

// Field is a column of a file, or a part of one.
type Field struct {
	arrow.Field
	// Children are the element of a list, the struct of the keys and values of a map, or the members of a struct.
	Children []Field
	// Leaf is the number of the file's column with the values, or -1.
	Leaf int
	Levels
}

// Levels are those of the entries of a file's column.
type Levels struct {
	// Definition is the level from which on a value or a struct is not null, or a list has an element.
	Definition int
	// Repetition is the number of lists around a field. A list counts itself.
	Repetition int
	// Ancestor is the definition level from which on the next list around a field has an element.
	Ancestor int
}

// optional adds the levels of a node.
func (l Levels) optional(n *parquetformat.Node) Levels {
	if n.Repetition == parquetformat.Optional {
		l.Definition++
	}
	return l
}

// repeated returns the levels of the elements of a list.
func (l Levels) repeated() Levels {
	return Levels{Definition: l.Definition + 1, Repetition: l.Repetition + 1, Ancestor: l.Definition + 1}
}

// Fields returns the columns of a file's schema. original is the Arrow schema that the writer stored, or nil. One with
// another number of columns is ignored.
//
// # Errors
//
// An error wraps [ErrType], or [arrow.ErrInvalid] if the stored schema has an extension type over another type than the
// file's.
func Fields(s *parquetformat.Schema, original *arrow.Schema) ([]Field, error) {
	fields := make([]Field, len(s.Root.Children))
	t := &tree{}
	for i := range fields {
		n := s.Root.Children[i]
		var err error
		if fields[i], err = t.field(n, Levels{}); err != nil {
			return nil, err
		}
		if !fits(s, original) {
			continue
		}
		if _, err := fields[i].restore(original.Field(i)); err != nil {
			return nil, fmt.Errorf("column %q: %w", n.Name, err)
		}
	}
	return fields, nil
}

// Check returns the error of [Fields] about a column of a file.
func Check(n *parquetformat.Node) error {
	_, err := (&tree{}).field(n, Levels{})
	return err
}

// Schema returns the Arrow schema of a file's columns, with the metadata of the schema that the writer stored.
func Schema(s *parquetformat.Schema, fields []Field, original *arrow.Schema) *arrow.Schema {
	list := make([]arrow.Field, len(fields))
	for i, f := range fields {
		list[i] = f.Field
	}
	if !fits(s, original) {
		return arrow.NewSchema(list, nil)
	}
	metadata := original.Metadata()
	return arrow.NewSchema(list, &metadata)
}

func fits(s *parquetformat.Schema, original *arrow.Schema) bool {
	return original != nil && original.NumFields() == len(s.Root.Children)
}

// tree makes fields of nodes in preorder.
type tree struct {
	leaves int // before the next one
}

// field returns the field of a node, which is within lists of some levels.
func (t *tree) field(n *parquetformat.Node, levels Levels) (Field, error) {
	if err := n.Check(); err != nil {
		return Field{}, fmt.Errorf("%w: %w", err, ErrType)
	}
	isRepeated := n.Repetition == parquetformat.Repeated
	switch {
	case isList(n):
		return t.list(n, levels)
	case n.IsGroup() && n.Logical.Kind == parquetformat.Map:
		return t.mapOf(n, levels)
	case !isRepeated:
		return t.part(n, levels.optional(n))
	}
	// A list without a group around it.
	element, err := t.part(n, levels.repeated())
	if err != nil {
		return Field{}, err
	}
	if !n.IsGroup() {
		element.Metadata = arrow.Metadata{}
	}
	return newField(n, arrow.ListOf(element.Type), listLevels(levels), element), nil
}

// part returns the field of values or of a struct, which has the levels already.
func (t *tree) part(n *parquetformat.Node, levels Levels) (Field, error) {
	if n.IsGroup() {
		return t.structOf(n, levels)
	}
	return t.leaf(n, levels)
}

func isList(n *parquetformat.Node) bool { return n.IsGroup() && n.Logical.Kind == parquetformat.List }

// listLevels are the levels of a list with elements of the levels behind those of the list itself.
func listLevels(levels Levels) Levels {
	elements := levels.repeated()
	elements.Ancestor = levels.Ancestor
	return elements
}

// newField returns a field with the name and the number of a node.
func newField(n *parquetformat.Node, t arrow.DataType, levels Levels, children ...Field) Field {
	return Field{
		Field:    arrow.Field{Name: n.Name, Type: t, Nullable: n.Repetition == parquetformat.Optional, Metadata: numberOf(n)},
		Children: children, Leaf: -1, Levels: levels,
	}
}

// numberOf returns the metadata of a field with the number that its node has in the file.
func numberOf(n *parquetformat.Node) arrow.Metadata {
	return arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{strconv.Itoa(int(n.ID))})
}

// leaf returns the field of values.
func (t *tree) leaf(n *parquetformat.Node, levels Levels) (Field, error) {
	values, err := leafType(n)
	f := newField(n, values, levels)
	f.Leaf = t.leaves
	t.leaves++
	return f, err
}

// structOf returns the field of a group, which has the levels already.
func (t *tree) structOf(n *parquetformat.Node, levels Levels) (Field, error) {
	members := make([]Field, len(n.Children))
	types := make([]arrow.Field, len(n.Children))
	for i := range members {
		var err error
		if members[i], err = t.field(n.Children[i], levels); err != nil {
			return Field{}, fmt.Errorf("member %q: %w", n.Children[i].Name, err)
		}
		types[i] = members[i].Field
	}
	return newField(n, arrow.StructOf(types...), levels, members...), nil
}
