package parquetschema

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// repeatedChild returns the repeated node below a list or a map.
func repeatedChild(n *schema.GroupNode) (schema.Node, error) {
	switch {
	case n.RepetitionType() == parquet.Repetitions.Repeated:
		return nil, fmt.Errorf("a list or map is repeated: %w", ErrType)
	case n.NumFields() != 1:
		return nil, fmt.Errorf("a list or map has %d nodes below it: %w", n.NumFields(), ErrType)
	case n.Field(0).RepetitionType() != parquet.Repetitions.Repeated:
		return nil, fmt.Errorf("the node below a list or map is not repeated: %w", ErrType)
	}
	return n.Field(0), nil
}

// list returns the field of a list of two or three levels:
//
//	group a (LIST) { repeated group list { optional int32 element } }
//	group a (LIST) { repeated int32 element }
//	group a (LIST) { repeated group element { required int32 x; required int32 y } }
//
// A repeated group of one node is the second level of three, unless the format gives its name to an element: "array", or
// that of the list with "_tuple" at the end.
func (t *tree) list(n *schema.GroupNode, levels Levels) (Field, error) {
	child, err := repeatedChild(n)
	if err != nil {
		return Field{}, err
	}
	levels = levels.optional(n)
	var element Field
	if group, ok := child.(*schema.GroupNode); ok && group.NumFields() == 1 && group.Name() != "array" && group.Name() != n.Name()+"_tuple" {
		element, err = t.field(group.Field(0), levels.repeated())
	} else {
		element, err = t.part(child, levels.repeated())
	}
	if err != nil {
		return Field{}, err
	}
	values := arrow.ListOfField(arrow.Field{Name: child.Name(), Type: element.Type, Nullable: true})
	return newField(n, values, listLevels(levels), element), nil
}

// mapOf returns the field of a map. One without values is a list of its keys.
func (t *tree) mapOf(n *schema.GroupNode, levels Levels) (Field, error) {
	child, err := repeatedChild(n)
	if err != nil {
		return Field{}, err
	}
	group, ok := child.(*schema.GroupNode)
	switch {
	case !ok || group.NumFields() < 1 || group.NumFields() > 2:
		return Field{}, fmt.Errorf("a map has other entries than a key and a value: %w", ErrType)
	case group.Field(0).RepetitionType() != parquet.Repetitions.Required:
		return Field{}, fmt.Errorf("the keys of a map are not required: %w", ErrType)
	case group.NumFields() == 1:
		return t.list(n, levels)
	}
	levels = levels.optional(n)
	entries, err := t.structOf(group, levels.repeated())
	if err != nil {
		return Field{}, err
	}
	entries.Name, entries.Nullable = n.Name(), false
	return newField(n, arrow.MapOf(entries.Children[0].Type, entries.Children[1].Type), listLevels(levels), entries), nil
}
