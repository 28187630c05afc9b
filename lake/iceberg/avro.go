package iceberg

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
)

// avroFile is a manifest or a list of manifests.
type avroFile struct {
	// metadata are those of the file's header.
	metadata map[string][]byte
	// partition are the fields of partitions.
	partition []partitionMember
}

// partitionMember is a field of partitions in a manifest. Its ID is zero if the file does not have it.
type partitionMember struct {
	name string
	id   int
}

// partitionField is the member of a manifest with the members of partitions.
const partitionField = "partition"

// readAvro calls visit for the records of a file. Of their fields it reads those with the names. Values of logical types are
// those of the underlying ones.
func readAvro[T any](data []byte, names []string, visit func(*avroFile, *T) error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("it cannot be decoded: %v: %w", reason, ErrMetadata)
		}
	}()
	f := &avroFile{}
	reader, err := ocf.NewReader(bytes.NewReader(data), ocf.WithReaderSchemaFunc(func(r *ocf.Reader) (*avro.Schema, error) {
		node := r.Schema().Root()
		f.metadata = r.Metadata()
		f.reduce(node, names)
		return node.Schema()
	}))
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrMetadata)
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for {
		record := new(T)
		if err := reader.Decode(record); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("%w: %w", err, ErrMetadata)
		}
		if err := visit(f, record); err != nil {
			return err
		}
	}
}

// reduce leaves out fields of records without one of the names, and logical types. All fields of partitions stay.
func (f *avroFile) reduce(node *avro.SchemaNode, names []string) {
	node.LogicalType, node.Precision, node.Scale = "", 0, 0
	if names != nil {
		node.Fields = slices.DeleteFunc(node.Fields, func(field avro.SchemaField) bool { return !slices.Contains(names, field.Name) })
	}
	for i := range node.Fields {
		field := &node.Fields[i]
		if field.Name == partitionField && names != nil {
			f.partition = partitionMembers(field.Type.Fields)
			f.reduce(&field.Type, nil)
			continue
		}
		f.reduce(&field.Type, names)
	}
	for _, inner := range []*avro.SchemaNode{node.Items, node.Values} {
		if inner != nil {
			f.reduce(inner, names)
		}
	}
	for i := range node.Branches {
		f.reduce(&node.Branches[i], names)
	}
}

func partitionMembers(fields []avro.SchemaField) (members []partitionMember) {
	for _, field := range fields {
		id, _ := field.Props["field-id"].(int64)
		members = append(members, partitionMember{field.Name, int(id)})
	}
	return members
}
