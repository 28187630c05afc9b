package rowgroups

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// createdBy is the writer that a file names. Its minima of texts are right, unlike those of
// dictionaries that arrow-go alone has written.
const createdBy = "gpuframe version 1.0.0"

// fileSchema returns the schema of a file with the columns of an Arrow schema. Lists and maps have three levels, and elements
// of lists may be null.
//
// # Errors
//
// An error wraps [arrow.ErrNotImplemented]: Parquet has no such type, or [Writer] does not write it.
func fileSchema(s *arrow.Schema, ids []FieldID) (*parquetformat.Schema, error) {
	fields, err := fieldNodes(s.Fields(), ids)
	if err != nil {
		return nil, err
	}
	return parquetformat.NewSchema(newGroup("schema", parquetformat.Repeated, parquetformat.None, noFieldID, fields...)), nil
}

func newGroup(name string, repetition parquetformat.Repetition, kind parquetformat.Kind, id int32, children ...*parquetformat.Node) *parquetformat.Node {
	return &parquetformat.Node{Name: name, Repetition: repetition, Logical: parquetformat.Logical{Kind: kind}, ID: id, Children: children}
}

func fieldNodes(fields []arrow.Field, ids []FieldID) ([]*parquetformat.Node, error) {
	nodes := make([]*parquetformat.Node, len(fields))
	for i, field := range fields {
		var err error
		if nodes[i], err = fieldNode(field, member(ids, i)); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// fieldNode returns the tree of a field.
func fieldNode(field arrow.Field, id FieldID) (*parquetformat.Node, error) {
	repetition := repetitionOf(field.Nullable)
	switch t := field.Type.(type) {
	case *arrow.StructType:
		if t.NumFields() == 0 {
			return nil, fmt.Errorf("column %q is a struct without fields, which Parquet lacks: %w", field.Name, arrow.ErrNotImplemented)
		}
		fields, err := fieldNodes(t.Fields(), id.Members)
		if err != nil {
			return nil, err
		}
		return newGroup(field.Name, repetition, parquetformat.None, id.number(), fields...), nil
	case *arrow.ListType, *arrow.FixedSizeListType:
		element, err := fieldNode(arrow.Field{Name: "element", Type: t.(arrow.ListLikeType).Elem(), Nullable: true}, member(id.Members, 0))
		if err != nil {
			return nil, err
		}
		list := newGroup("list", parquetformat.Repeated, parquetformat.None, noFieldID, element)
		return newGroup(field.Name, repetition, parquetformat.List, id.number(), list), nil
	case *arrow.MapType:
		entry, err := fieldNodes([]arrow.Field{renamed(t.KeyField(), "key"), renamed(t.ItemField(), "value")}, id.Members)
		if err != nil {
			return nil, err
		}
		entries := newGroup("key_value", parquetformat.Repeated, parquetformat.None, noFieldID, entry...)
		return newGroup(field.Name, repetition, parquetformat.Map, id.number(), entries), nil
	}
	return leafNode(field, id)
}

func renamed(field arrow.Field, name string) arrow.Field {
	field.Name = name
	return field
}

func repetitionOf(nullable bool) parquetformat.Repetition {
	if nullable {
		return parquetformat.Optional
	}
	return parquetformat.Required
}

// entriesOf returns the metadata of an Arrow schema for a file.
func entriesOf(m arrow.Metadata) []parquetformat.Entry {
	entries := make([]parquetformat.Entry, m.Len())
	for i, key := range m.Keys() {
		entries[i] = parquetformat.Entry{Key: key, Value: m.Values()[i]}
	}
	return entries
}
