package sink

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/io/sink/rowgroups"
)

// FieldID is the ID of a column in the schema of a Parquet file.
type FieldID = rowgroups.FieldID

// uuidBytes is the length of a UUID.
const uuidBytes = 16

// checkFieldIDs checks the IDs of the columns of a schema, if it has IDs.
func checkFieldIDs(schema *arrow.Schema, ids []FieldID) error {
	if len(ids) == 0 {
		return nil
	}
	return checkIDs(schema.Fields(), ids, "the table", map[int32]bool{})
}

// checkIDs checks the IDs of fields. An ID is seen at most once.
func checkIDs(fields []arrow.Field, ids []FieldID, parent string, seen map[int32]bool) error {
	if len(ids) != len(fields) {
		return fmt.Errorf("%d field IDs for %d columns of %s, expected as many: %w", len(ids), len(fields), parent, ErrArgument)
	}
	for i, field := range fields {
		id := ids[i].ID
		if id < 0 || seen[id] {
			return fmt.Errorf("the field ID %d of column %q is negative or given twice: %w", id, field.Name, ErrArgument)
		}
		if fixed, ok := field.Type.(*arrow.FixedSizeBinaryType); ids[i].UUID && (!ok || fixed.ByteWidth != uuidBytes) {
			return fmt.Errorf("column %q of %v is marked as one of UUIDs, expected 16 bytes: %w", field.Name, field.Type, ErrArgument)
		}
		if id > 0 {
			seen[id] = true
		}
		if len(ids[i].Members) > 0 {
			if err := checkMembers(field, ids[i].Members, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkMembers checks the IDs of the parts of a column.
func checkMembers(field arrow.Field, ids []FieldID, seen map[int32]bool) error {
	var parts []arrow.Field
	switch t := field.Type.(type) {
	case *arrow.StructType:
		parts = t.Fields()
	case *arrow.ListType:
		parts = t.Fields()
	case *arrow.MapType:
		parts = []arrow.Field{t.KeyField(), t.ItemField()}
	default:
		return fmt.Errorf("field IDs of parts of column %q of %v, expected a struct, a list or a map: %w", field.Name, t, ErrArgument)
	}
	return checkIDs(parts, ids, fmt.Sprintf("column %q", field.Name), seen)
}
