package schemajson

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/endian"
)

// Schema is a schema in a message.
type Schema struct {
	Fields   []Field     `json:"fields,omitempty"`
	Metadata [][2]string `json:"metadata,omitempty"`
}

// Field is a field of a schema, or of a nested type.
type Field struct {
	Name     string  `json:"name"`
	Format   string  `json:"format"`
	Nullable bool    `json:"nullable,omitempty"`
	Children []Field `json:"children,omitempty"`
	// Dictionary is the type of the values. It is set if Format is the type of their
	// indices.
	Dictionary *Field `json:"dictionary,omitempty"`
	// Ordered applies to a dictionary, Sorted to the keys of a map.
	Ordered bool `json:"ordered,omitempty"`
	Sorted  bool `json:"sorted,omitempty"`
	// Metadata has an extension type's name under Arrow's keys. Format is then the
	// storage type.
	Metadata [][2]string `json:"metadata,omitempty"`
}

// Of describes a schema.
//
// # Errors
//
// The error wraps [ErrInvalid] if a type has no format string, or if the byte order is not
// the machine's.
func Of(schema *arrow.Schema) (Schema, error) {
	fields, err := formatFields(schema.Fields())
	if err == nil && schema.Endianness() != endian.NativeEndian {
		err = fmt.Errorf("the schema's byte order is not the machine's: %w", ErrInvalid)
	}
	return Schema{Fields: fields, Metadata: formatMetadata(schema.Metadata())}, err
}

func formatFields(fields []arrow.Field) ([]Field, error) {
	messages := make([]Field, 0, len(fields))
	for _, field := range fields {
		message, err := OfField(field)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", field.Name, err)
		}
		messages = append(messages, message)
	}
	return messages, nil
}

func formatMetadata(metadata arrow.Metadata) [][2]string {
	var pairs [][2]string
	for i, key := range metadata.Keys() {
		pairs = append(pairs, [2]string{key, metadata.Values()[i]})
	}
	return pairs
}

// Schema makes the schema. A panic of arrow-go about a type becomes an error.
//
// # Errors
//
// The description is not trusted: the error wraps [ErrInvalid].
func (s Schema) Schema() (schema *arrow.Schema, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			schema, err = nil, fmt.Errorf("%v: %w", reason, ErrInvalid)
		}
	}()
	fields, err := parseFields(s.Fields, 1)
	if err != nil {
		return nil, err
	}
	metadata := parseMetadata(s.Metadata)
	return arrow.NewSchema(fields, &metadata), nil
}

func parseFields(messages []Field, depth int) ([]arrow.Field, error) {
	fields := make([]arrow.Field, 0, len(messages))
	for i := range messages {
		field, err := messages[i].parse(depth)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", messages[i].Name, err)
		}
		fields = append(fields, field)
	}
	return fields, nil
}

func parseMetadata(pairs [][2]string) arrow.Metadata {
	var keys, values []string
	for _, pair := range pairs {
		keys, values = append(keys, pair[0]), append(values, pair[1])
	}
	return arrow.NewMetadata(keys, values)
}
