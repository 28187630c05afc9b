package iceberg

import (
	"bytes"
	"context"
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

// recordsPerCheck is the number of records after which the context is looked at.
const recordsPerCheck = 1 << 10

// readAvro calls visit for the records of a file. Of their fields it reads those with the names. Values of logical types are
// those of the underlying ones.
func readAvro[T any](ctx context.Context, data []byte, names []string, visit func(*avroFile, *T) error) (err error) {
	f := &avroFile{}
	var reader *ocf.Reader
	if err := decode(func() (err error) { reader, err = f.reader(data, names); return err }); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for number := 0; ; number++ {
		if number%recordsPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		record := new(T)
		if err := decode(func() error { return reader.Decode(record) }); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := visit(f, record); err != nil {
			return err
		}
	}
}

// decode calls a function of the decoder. A panic of it is an error: the bytes are those of others.
func decode(f func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("it cannot be decoded: %v: %w", reason, ErrMetadata)
		}
	}()
	if err = f(); err != nil && err != io.EOF {
		return fmt.Errorf("%w: %w", err, ErrMetadata)
	}
	return err
}

// reader returns a reader of the fields with the names.
func (f *avroFile) reader(data []byte, names []string) (*ocf.Reader, error) {
	return ocf.NewReader(bytes.NewReader(data), ocf.WithReaderSchemaFunc(func(r *ocf.Reader) (*avro.Schema, error) {
		node := r.Schema().Root()
		f.metadata = r.Metadata()
		f.reduce(node, names)
		return node.Schema()
	}))
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
