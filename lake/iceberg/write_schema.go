package iceberg

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// writtenField is a field of a schema as metadata have it.
type writtenField struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Type     any    `json:"type"`
}

// writtenType is a struct, a list or a map as metadata have it.
type writtenType struct {
	Type            string         `json:"type"`
	Fields          []writtenField `json:"fields,omitempty"`
	ElementID       int            `json:"element-id,omitempty"`
	ElementRequired *bool          `json:"element-required,omitempty"`
	Element         any            `json:"element,omitempty"`
	KeyID           int            `json:"key-id,omitempty"`
	Key             any            `json:"key,omitempty"`
	ValueID         int            `json:"value-id,omitempty"`
	ValueRequired   *bool          `json:"value-required,omitempty"`
	Value           any            `json:"value,omitempty"`
}

// schemaWriter gives fields their IDs. The IDs of columns precede those of their parts.
type schemaWriter struct{ last int }

func (w *schemaWriter) next() int {
	w.last++
	return w.last
}

// fields returns fields of a schema, or of a struct. Parts of columns are always optional.
func (w *schemaWriter) fields(fields []arrow.Field, nested bool) ([]writtenField, error) {
	written := make([]writtenField, len(fields))
	names := map[string]bool{}
	for i, field := range fields {
		if field.Name == "" || names[field.Name] {
			return nil, fmt.Errorf("the name %q of column %d is empty or there twice: rename the column: %w", field.Name, i, ErrColumns)
		}
		names[field.Name] = true
		written[i] = writtenField{ID: w.next(), Name: field.Name, Required: !nested && !field.Nullable}
	}
	for i, field := range fields {
		var err error
		if written[i].Type, err = w.typeOf(field.Type); err != nil {
			return nil, fmt.Errorf("column %q: %w", field.Name, err)
		}
		if !nested && isUUID(field) {
			written[i].Type = "uuid"
		}
	}
	return written, nil
}

// extensionKey is the metadata of a field with the name of its type of extension, as Arrow's columnar format has it.
const extensionKey = "ARROW:extension:name"

// isUUID reports whether a field is of 16 bytes and has the mark of the canonical extension arrow.uuid.
func isUUID(field arrow.Field) bool {
	name, _ := field.Metadata.GetValue(extensionKey)
	return name == "arrow.uuid" && arrow.TypeEqual(field.Type, primitives["uuid"])
}

func (w *schemaWriter) typeOf(t arrow.DataType) (any, error) {
	optional := false
	switch t := t.(type) {
	case *arrow.StructType:
		fields, err := w.fields(t.Fields(), true)
		return writtenType{Type: "struct", Fields: fields}, err
	case *arrow.ListType:
		id := w.next()
		element, err := w.typeOf(t.Elem())
		return writtenType{Type: "list", ElementID: id, ElementRequired: &optional, Element: element}, err
	case *arrow.MapType:
		keyID, valueID := w.next(), w.next()
		key, err := w.typeOf(t.KeyType())
		if err != nil {
			return nil, err
		}
		value, err := w.typeOf(t.ItemType())
		return writtenType{Type: "map", KeyID: keyID, Key: key, ValueID: valueID, ValueRequired: &optional, Value: value}, err
	}
	name := primitiveName(t)
	if name == "" {
		return nil, fmt.Errorf("the type %v is not in format version 2 of Iceberg: cast the column: %w", t, ErrColumns)
	}
	return name, nil
}

// primitiveName returns the name of a type of format version 2, or empty text.
func primitiveName(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		if t.ValueType.ID() == arrow.STRING {
			return "string"
		}
	case *arrow.TimestampType:
		switch {
		case t.Unit != arrow.Microsecond:
			return ""
		case t.TimeZone == "":
			return "timestamp"
		}
		return "timestamptz"
	case *arrow.Decimal128Type:
		if t.Scale >= 0 && t.Scale <= t.Precision && t.Precision <= 38 {
			return fmt.Sprintf("decimal(%d, %d)", t.Precision, t.Scale)
		}
	case *arrow.FixedSizeBinaryType:
		if t.ByteWidth > 0 && t.ByteWidth <= mostFixed {
			return fmt.Sprintf("fixed[%d]", t.ByteWidth)
		}
	}
	for name, each := range primitives {
		if name != "uuid" && name != "unknown" && arrow.TypeEqual(each, t) {
			return name
		}
	}
	return ""
}

// fieldIDs returns the IDs of columns for the files.
func fieldIDs(origins []gpuframe.ColumnOrigin) []gpuframe.FieldID {
	var ids []gpuframe.FieldID
	for _, origin := range origins {
		ids = append(ids, gpuframe.FieldID{ID: origin.ID, Members: fieldIDs(origin.Members)})
	}
	return ids
}

// checkColumns compares the columns of a query with those of the table.
func checkColumns(columns []column, required []int, schema *arrow.Schema) error {
	for _, c := range columns {
		index := schema.FieldIndices(c.name)
		if len(index) != 1 {
			return fmt.Errorf("the query has %d columns %q, expected one as the table has: %w", len(index), c.name, ErrColumns)
		}
		field := schema.Field(index[0])
		if !sameType(c.t, field.Type) {
			return fmt.Errorf("column %q of the query is %v, that of the table %v: cast it: %w", c.name, field.Type, c.t, ErrColumns)
		}
		if arrow.IsNested(c.t.ID()) && field.Nullable && slices.Contains(required, c.id) {
			return fmt.Errorf("column %q of %v may have nulls, but the table requires values: expected a column that is not nullable: %w", c.name, c.t, ErrColumns)
		}
	}
	for _, field := range schema.Fields() {
		if !slices.ContainsFunc(columns, func(c column) bool { return c.name == field.Name }) {
			return fmt.Errorf("the query has a column %q, which the table lacks: drop it: %w", field.Name, ErrColumns)
		}
	}
	return nil
}

// sameType reports whether values of the type b are those of a column of the type a.
func sameType(a, b arrow.DataType) bool {
	switch a := a.(type) {
	case *arrow.TimestampType:
		b, ok := b.(*arrow.TimestampType)
		return ok && a.Unit == b.Unit && (a.TimeZone == "") == (b.TimeZone == "")
	case *arrow.StringType:
		dictionary, ok := b.(*arrow.DictionaryType)
		return b.ID() == arrow.STRING || ok && dictionary.ValueType.ID() == arrow.STRING
	case *arrow.ListType:
		b, ok := b.(*arrow.ListType)
		return ok && sameType(a.Elem(), b.Elem())
	case *arrow.MapType:
		b, ok := b.(*arrow.MapType)
		return ok && sameType(a.KeyType(), b.KeyType()) && sameType(a.ItemType(), b.ItemType())
	case *arrow.StructType:
		b, ok := b.(*arrow.StructType)
		return ok && slices.EqualFunc(a.Fields(), b.Fields(), func(a, b arrow.Field) bool { return a.Name == b.Name && sameType(a.Type, b.Type) })
	}
	return arrow.TypeEqual(a, b)
}

// newTableMetadata returns the metadata of a table without a snapshot.
func newTableMetadata(location, uuid string, updated int64, schema *arrow.Schema, partitionBy []string) ([]byte, error) {
	w := &schemaWriter{}
	fields, err := w.fields(schema.Fields(), false)
	if err != nil {
		return nil, err
	}
	spec, err := partitionSpecOf(partitionBy, fields)
	if err != nil {
		return nil, err
	}
	none := []any{}
	return json.Marshal(map[string]any{
		"format-version": 2, "table-uuid": uuid, "location": location, "last-sequence-number": 0, "last-updated-ms": updated,
		"last-column-id": w.last, "current-schema-id": 0, "schemas": []any{map[string]any{"type": "struct", "schema-id": 0, "fields": fields}},
		"default-spec-id": 0, "partition-specs": []any{map[string]any{"spec-id": 0, "fields": spec}}, "last-partition-id": 999 + len(spec),
		"default-sort-order-id": 0, "sort-orders": []any{map[string]any{"order-id": 0, "fields": none}}, "properties": map[string]any{},
		"snapshots": none, "snapshot-log": none, "metadata-log": none, "refs": map[string]any{},
	})
}
