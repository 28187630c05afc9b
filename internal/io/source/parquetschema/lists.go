package parquetschema

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// repeatedChild returns the repeated node below a list or a map.
func repeatedChild(n *parquetformat.Node) (*parquetformat.Node, error) {
	switch {
	case n.Repetition == parquetformat.Repeated:
		return nil, fmt.Errorf("a list or map is repeated: %w", ErrType)
	case len(n.Children) != 1:
		return nil, fmt.Errorf("a list or map has %d nodes below it: %w", len(n.Children), ErrType)
	case n.Children[0].Repetition != parquetformat.Repeated:
		return nil, fmt.Errorf("the node below a list or map is not repeated: %w", ErrType)
	}
	return n.Children[0], nil
}

// list returns the field of a list of two or three levels:
//
//	group a (LIST) { repeated group list { optional int32 element } }
//	group a (LIST) { repeated int32 element }
//	group a (LIST) { repeated group element { required int32 x; required int32 y } }
//
// A repeated group of one node is the second level of three, unless the format gives its name to an element: "array", or
// that of the list with "_tuple" at the end.
func (t *tree) list(n *parquetformat.Node, levels Levels) (Field, error) {
	child, err := repeatedChild(n)
	if err != nil {
		return Field{}, err
	}
	levels = levels.optional(n)
	var element Field
	if len(child.Children) == 1 && child.Name != "array" && child.Name != n.Name+"_tuple" {
		element, err = t.field(child.Children[0], levels.repeated())
	} else {
		element, err = t.part(child, levels.repeated())
	}
	if err != nil {
		return Field{}, err
	}
	values := arrow.ListOfField(arrow.Field{Name: child.Name, Type: element.Type, Nullable: true})
	return newField(n, values, listLevels(levels), element), nil
}

// mapOf returns the field of a map. One without values is a list of its keys.
func (t *tree) mapOf(n *parquetformat.Node, levels Levels) (Field, error) {
	group, err := repeatedChild(n)
	if err != nil {
		return Field{}, err
	}
	switch {
	case len(group.Children) < 1 || len(group.Children) > 2:
		return Field{}, fmt.Errorf("a map has other entries than a key and a value: %w", ErrType)
	case group.Children[0].Repetition != parquetformat.Required:
		return Field{}, fmt.Errorf("the keys of a map are not required: %w", ErrType)
	case len(group.Children) == 1:
		return t.list(n, levels)
	}
	levels = levels.optional(n)
	entries, err := t.structOf(group, levels.repeated())
	if err != nil {
		return Field{}, err
	}
	entries.Name, entries.Nullable = n.Name, false
	return newField(n, arrow.MapOf(entries.Children[0].Type, entries.Children[1].Type), listLevels(levels), entries), nil
}
