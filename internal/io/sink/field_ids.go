package sink

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/sink/rowgroups"
)

// FieldID is the ID of a column in the schema of a Parquet file.
type FieldID = rowgroups.FieldID

// fieldIDKey is the metadata of a field by which arrow-go writes its ID.
const fieldIDKey = "PARQUET:field_id"

// uuidBytes is the length of a UUID.
const uuidBytes = 16

// withFieldIDs returns a schema whose fields have IDs in their metadata, those of parts too.
func withFieldIDs(schema *arrow.Schema, ids []FieldID) (*arrow.Schema, error) {
	if len(ids) == 0 {
		return schema, nil
	}
	fields, err := fieldsWithIDs(schema.Fields(), ids, "the table", map[int32]bool{})
	if err != nil {
		return nil, err
	}
	metadata := schema.Metadata()
	return arrow.NewSchema(fields, &metadata), nil
}

// fieldsWithIDs returns a copy of fields with IDs. An ID is seen at most once.
func fieldsWithIDs(fields []arrow.Field, ids []FieldID, parent string, seen map[int32]bool) ([]arrow.Field, error) {
	if len(ids) != len(fields) {
		return nil, fmt.Errorf("%d field IDs for %d columns of %s, expected as many: %w", len(ids), len(fields), parent, ErrArgument)
	}
	copies := make([]arrow.Field, len(fields))
	for i, field := range fields {
		id := ids[i].ID
		if id < 0 || seen[id] {
			return nil, fmt.Errorf("the field ID %d of column %q is negative or given twice: %w", id, field.Name, ErrArgument)
		}
		if fixed, ok := field.Type.(*arrow.FixedSizeBinaryType); ids[i].UUID && (!ok || fixed.ByteWidth != uuidBytes) {
			return nil, fmt.Errorf("column %q of %v is marked as one of UUIDs, expected 16 bytes: %w", field.Name, field.Type, ErrArgument)
		}
		if id > 0 {
			seen[id] = true
			field.Metadata = arrow.NewMetadata([]string{fieldIDKey}, []string{strconv.Itoa(int(id))})
		}
		if len(ids[i].Members) > 0 {
			var err error
			if field.Type, err = typeWithIDs(field.Type, ids[i].Members, fmt.Sprintf("column %q", field.Name), seen); err != nil {
				return nil, err
			}
		}
		copies[i] = field
	}
	return copies, nil
}

// typeWithIDs returns a nested type whose parts have IDs.
func typeWithIDs(t arrow.DataType, ids []FieldID, name string, seen map[int32]bool) (arrow.DataType, error) {
	switch t := t.(type) {
	case *arrow.StructType:
		fields, err := fieldsWithIDs(t.Fields(), ids, name, seen)
		if err != nil {
			return nil, err
		}
		return arrow.StructOf(fields...), nil
	case *arrow.ListType:
		fields, err := fieldsWithIDs(t.Fields(), ids, name, seen)
		if err != nil {
			return nil, err
		}
		return arrow.ListOfField(fields[0]), nil
	case *arrow.MapType:
		fields, err := fieldsWithIDs([]arrow.Field{t.KeyField(), t.ItemField()}, ids, name, seen)
		if err != nil {
			return nil, err
		}
		copied := arrow.MapOfWithMetadata(fields[0].Type, fields[0].Metadata, fields[1].Type, fields[1].Metadata)
		copied.KeysSorted = t.KeysSorted
		copied.SetItemNullable(t.ItemField().Nullable)
		return copied, nil
	}
	return nil, fmt.Errorf("field IDs of parts of %s of %v, expected a struct, a list or a map: %w", name, t, ErrArgument)
}
