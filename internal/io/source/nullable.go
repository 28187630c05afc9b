package source

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// nullableWhere returns a schema with the fields nullable for which mayBeNull reports true. Plans
// simplify conditions on fields that are not nullable, and writers of schemas set Nullable to false
// without a check: a source declares a field as not nullable only if it has looked at the values, or
// makes them itself.
func nullableWhere(schema *arrow.Schema, mayBeNull func(place int) bool) *arrow.Schema {
	fields := slices.Clone(schema.Fields())
	changed := false
	for i := range fields {
		if !fields[i].Nullable && mayBeNull(i) {
			fields[i].Nullable, changed = true, true
		}
	}
	if !changed {
		return schema
	}
	metadata := schema.Metadata()
	return arrow.NewSchemaWithEndian(fields, &metadata, schema.Endianness())
}

// nullableThroughout returns a field that is nullable, with all fields of its type.
func nullableThroughout(field arrow.Field) (nullable arrow.Field, changed bool) {
	t := withFields(field.Type, nullableThroughout)
	changed = t != field.Type || !field.Nullable
	field.Type, field.Nullable = t, true
	return field, changed
}

// unread is the mayBeNull of values that were not read.
func unread(int) bool { return true }
