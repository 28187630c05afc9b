package parquetschema

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"
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
func (l Levels) optional(n schema.Node) Levels {
	if n.RepetitionType() == parquet.Repetitions.Optional {
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
func Fields(s *schema.Schema, original *arrow.Schema) ([]Field, error) {
	fields := make([]Field, s.Root().NumFields())
	t := &tree{}
	for i := range fields {
		n := s.Root().Field(i)
		var err error
		if fields[i], err = t.field(n, Levels{}); err != nil {
			return nil, err
		}
		if !fits(s, original) {
			continue
		}
		if _, err := fields[i].restore(original.Field(i)); err != nil {
			return nil, fmt.Errorf("column %q: %w", n.Name(), err)
		}
	}
	return fields, nil
}

// Schema returns the Arrow schema of a file's columns, with the metadata of the schema that the writer stored.
func Schema(s *schema.Schema, fields []Field, original *arrow.Schema) *arrow.Schema {
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

func fits(s *schema.Schema, original *arrow.Schema) bool {
	return original != nil && original.NumFields() == s.Root().NumFields()
}

// tree makes fields of nodes in preorder.
type tree struct {
	leaves int // before the next one
}

// field returns the field of a node, which is within lists of some levels.
func (t *tree) field(n schema.Node, levels Levels) (Field, error) {
	group, ok := n.(*schema.GroupNode)
	isRepeated := n.RepetitionType() == parquet.Repetitions.Repeated
	switch {
	case ok && isList(group):
		return t.list(group, levels)
	case ok && group.LogicalType().Equals(schema.MapLogicalType{}):
		return t.mapOf(group, levels)
	case !isRepeated:
		return t.part(n, levels.optional(n))
	}
	// A list without a group around it.
	element, err := t.part(n, levels.repeated())
	if err != nil {
		return Field{}, err
	}
	if !ok {
		element.Metadata = arrow.Metadata{}
	}
	return newField(n, arrow.ListOf(element.Type), listLevels(levels), element), nil
}

// part returns the field of values or of a struct, which has the levels already.
func (t *tree) part(n schema.Node, levels Levels) (Field, error) {
	if group, ok := n.(*schema.GroupNode); ok {
		return t.structOf(group, levels)
	}
	return t.leaf(n.(*schema.PrimitiveNode), levels)
}

func isList(n *schema.GroupNode) bool { return n.LogicalType().Equals(schema.NewListLogicalType()) }

// listLevels are the levels of a list with elements of the levels behind those of the list itself.
func listLevels(levels Levels) Levels {
	elements := levels.repeated()
	elements.Ancestor = levels.Ancestor
	return elements
}

// newField returns a field with the name and the number of a node.
func newField(n schema.Node, t arrow.DataType, levels Levels, children ...Field) Field {
	return Field{
		Field:    arrow.Field{Name: n.Name(), Type: t, Nullable: n.RepetitionType() == parquet.Repetitions.Optional, Metadata: numberOf(n)},
		Children: children, Leaf: -1, Levels: levels,
	}
}

// numberOf returns the metadata of a field with the number that its node has in the file.
func numberOf(n schema.Node) arrow.Metadata {
	return arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{strconv.Itoa(int(n.FieldID()))})
}

// leaf returns the field of values.
func (t *tree) leaf(n *schema.PrimitiveNode, levels Levels) (Field, error) {
	values, err := leafType(n)
	f := newField(n, values, levels)
	f.Leaf = t.leaves
	t.leaves++
	return f, err
}

// structOf returns the field of a group, which has the levels already.
func (t *tree) structOf(n *schema.GroupNode, levels Levels) (Field, error) {
	members := make([]Field, n.NumFields())
	types := make([]arrow.Field, n.NumFields())
	for i := range members {
		var err error
		if members[i], err = t.field(n.Field(i), levels); err != nil {
			return Field{}, fmt.Errorf("member %q: %w", n.Field(i).Name(), err)
		}
		types[i] = members[i].Field
	}
	return newField(n, arrow.StructOf(types...), levels, members...), nil
}
