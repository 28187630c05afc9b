package share

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/endian"
)

// schemaMessage is the schema in a message. Its types are the format strings of Arrow's C
// data interface and not a flatbuffer, because a malformed flatbuffer makes arrow-go
// panic and may end the process.
type schemaMessage struct {
	Fields   []fieldMessage `json:"fields,omitempty"`
	Metadata [][2]string    `json:"metadata,omitempty"`
}

type fieldMessage struct {
	Name     string         `json:"name"`
	Format   string         `json:"format"`
	Nullable bool           `json:"nullable,omitempty"`
	Children []fieldMessage `json:"children,omitempty"`
	// Dictionary is the type of the values. It is set if Format is the type of their
	// indices.
	Dictionary *fieldMessage `json:"dictionary,omitempty"`
	// Ordered applies to a dictionary, Sorted to the keys of a map.
	Ordered bool `json:"ordered,omitempty"`
	Sorted  bool `json:"sorted,omitempty"`
	// Metadata has an extension type's name under Arrow's keys. Format is then the
	// storage type.
	Metadata [][2]string `json:"metadata,omitempty"`
}

func formatSchema(schema *arrow.Schema) (schemaMessage, error) {
	fields, err := formatFields(schema.Fields())
	if err == nil && schema.Endianness() != endian.NativeEndian {
		err = fmt.Errorf("the schema's byte order is not the machine's: %w", ErrType)
	}
	return schemaMessage{Fields: fields, Metadata: formatMetadata(schema.Metadata())}, err
}

func formatFields(fields []arrow.Field) ([]fieldMessage, error) {
	messages := make([]fieldMessage, 0, len(fields))
	for _, field := range fields {
		message, err := formatField(field)
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

// parseSchema makes the schema of a message. A panic of arrow-go about a type becomes an
// error.
func parseSchema(message schemaMessage) (schema *arrow.Schema, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			schema, err = nil, fmt.Errorf("%v: %w", reason, ErrType)
		}
	}()
	fields, err := parseFields(message.Fields, 1)
	if err != nil {
		return nil, err
	}
	metadata := parseMetadata(message.Metadata)
	return arrow.NewSchema(fields, &metadata), nil
}

func parseFields(messages []fieldMessage, depth int) ([]arrow.Field, error) {
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
