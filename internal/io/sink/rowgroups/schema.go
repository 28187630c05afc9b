package rowgroups

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/gpuframe/gpuframe/internal/io/source/pages"
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
func fileSchema(s *arrow.Schema, ids []FieldID, properties *parquet.WriterProperties) (*schema.Schema, error) {
	fields, err := fieldNodes(s.Fields(), ids)
	if err != nil {
		return nil, err
	}
	root, err := schema.NewGroupNode(properties.RootName(), properties.RootRepetition(), fields, noFieldID)
	if err != nil {
		return nil, err
	}
	return schema.NewSchema(root), nil
}

func fieldNodes(fields []arrow.Field, ids []FieldID) (schema.FieldList, error) {
	nodes := make(schema.FieldList, len(fields))
	for i, field := range fields {
		var err error
		if nodes[i], err = fieldNode(field, member(ids, i)); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// fieldNode returns the tree of a field.
func fieldNode(field arrow.Field, id FieldID) (schema.Node, error) {
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
		return schema.NewGroupNode(field.Name, repetition, fields, id.number())
	case *arrow.ListType, *arrow.FixedSizeListType:
		element, err := fieldNode(arrow.Field{Name: "element", Type: t.(arrow.ListLikeType).Elem(), Nullable: true}, member(id.Members, 0))
		if err != nil {
			return nil, err
		}
		return schema.ListOfWithName(field.Name, element, repetition, id.number())
	case *arrow.MapType:
		entry, err := fieldNodes([]arrow.Field{renamed(t.KeyField(), "key"), renamed(t.ItemField(), "value")}, id.Members)
		if err != nil {
			return nil, err
		}
		return schema.MapOf(field.Name, entry[0], entry[1], repetition, id.number())
	}
	return leafNode(field, id)
}

func renamed(field arrow.Field, name string) arrow.Field {
	field.Name = name
	return field
}

func repetitionOf(nullable bool) parquet.Repetition {
	if nullable {
		return parquet.Repetitions.Optional
	}
	return parquet.Repetitions.Required
}

// emptyFooter returns the footer of a file without rows.
func emptyFooter(s *schema.Schema, entries arrow.Metadata, properties *parquet.WriterProperties) ([]byte, error) {
	pairs := metadata.NewKeyValueMetadata()
	for i, key := range entries.Keys() {
		_ = pairs.Append(key, entries.Values()[i]) // a file has no entries that are not UTF-8
	}
	var empty bytes.Buffer
	writer := file.NewParquetWriter(&empty, s.Root(), file.WithWriterProps(properties), file.WithWriteMetadata(pairs))
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return pages.Footer(bytes.NewReader(empty.Bytes()), int64(empty.Len()))
}
