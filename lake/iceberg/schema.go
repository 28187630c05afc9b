package iceberg

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// jsonSchema is a schema of the metadata.
type jsonSchema struct {
	ID     int         `json:"schema-id"`
	Fields []jsonField `json:"fields"`
}

type jsonField struct {
	ID      int             `json:"id"`
	Name    string          `json:"name"`
	Type    json.RawMessage `json:"type"`
	Default json.RawMessage `json:"initial-default"`
}

// jsonNested is a struct, a list or a map.
type jsonNested struct {
	Type      string          `json:"type"`
	Fields    []jsonField     `json:"fields"`
	ElementID int             `json:"element-id"`
	Element   json.RawMessage `json:"element"`
	KeyID     int             `json:"key-id"`
	Key       json.RawMessage `json:"key"`
	ValueID   int             `json:"value-id"`
	Value     json.RawMessage `json:"value"`
}

// column is a column of a table.
type column struct {
	id     int
	name   string
	t      arrow.DataType
	origin gpuframe.ColumnOrigin
}

// mostDepth is the number of types within each other at most.
const mostDepth = 64

// schemaReader makes columns of schemas. Names are those of files without field IDs, by IDs.
type schemaReader struct {
	names map[int][]string
	seen  map[int]bool
}

// columnsOf returns the columns of a schema.
func columnsOf(s *jsonSchema, names map[int][]string) ([]column, error) {
	r := schemaReader{names, map[int]bool{}}
	columns, err := r.fields(s.Fields, 0)
	if err != nil {
		return nil, fmt.Errorf("schema %d: %w", s.ID, err)
	}
	return columns, nil
}

func (r schemaReader) fields(fields []jsonField, depth int) ([]column, error) {
	var columns []column
	names := map[string]bool{}
	for _, field := range fields {
		if names[field.Name] || field.Name == "" {
			return nil, fmt.Errorf("the name %q is empty or there twice: %w", field.Name, ErrMetadata)
		}
		names[field.Name] = true
		c, err := r.field(field.ID, field.Type, depth)
		c.name = field.Name
		if err == nil {
			c.origin.Default, err = defaultOf(field.Default, c.t)
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", field.Name, err)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// field returns a column or a part of one, without a name.
func (r schemaReader) field(id int, text json.RawMessage, depth int) (column, error) {
	if id < 1 || id > math.MaxInt32 || r.seen[id] {
		return column{}, fmt.Errorf("the field ID %d is not positive or there twice: %w", id, ErrMetadata)
	}
	r.seen[id] = true
	c := column{id: id, origin: gpuframe.ColumnOrigin{ID: int32(id)}}
	if names := r.names[id]; len(names) > 0 {
		c.origin.Name, c.origin.Aliases = names[0], names[1:]
	}
	var err error
	c.t, c.origin.Members, err = r.parseType(text, depth+1)
	return c, err
}

// parseType returns a type, and the origins of its parts.
func (r schemaReader) parseType(text json.RawMessage, depth int) (arrow.DataType, []gpuframe.ColumnOrigin, error) {
	if depth > mostDepth {
		return nil, nil, fmt.Errorf("types are within each other more than %d times: %w", mostDepth, ErrLimit)
	}
	var name string
	if json.Unmarshal(text, &name) == nil {
		t, err := primitive(name)
		return t, nil, err
	}
	var nested jsonNested
	if err := json.Unmarshal(text, &nested); err != nil {
		return nil, nil, fmt.Errorf("a type is no text and no object: %w: %w", err, ErrMetadata)
	}
	switch nested.Type {
	case "struct":
		columns, err := r.fields(nested.Fields, depth)
		if err != nil {
			return nil, nil, err
		}
		fields, origins := fieldsOf(columns)
		return arrow.StructOf(fields...), origins, nil
	case "list":
		element, err := r.field(nested.ElementID, nested.Element, depth)
		if err != nil {
			return nil, nil, err
		}
		return arrow.ListOf(element.t), []gpuframe.ColumnOrigin{element.origin}, nil
	case "map":
		key, err := r.field(nested.KeyID, nested.Key, depth)
		if err != nil {
			return nil, nil, err
		}
		value, err := r.field(nested.ValueID, nested.Value, depth)
		if err != nil {
			return nil, nil, err
		}
		return arrow.MapOf(key.t, value.t), []gpuframe.ColumnOrigin{key.origin, value.origin}, nil
	}
	return nil, nil, fmt.Errorf("the type %q: %w", nested.Type, ErrUnsupported)
}

// addTypes adds the types of fields, and of those of structs.
func addTypes(types map[int]arrow.DataType, fields []jsonField, depth int) {
	for _, field := range fields {
		var name string
		if json.Unmarshal(field.Type, &name) == nil {
			if t, err := primitive(name); err == nil {
				types[field.ID] = t
			}
			continue
		}
		var nested jsonNested
		if depth < mostDepth && json.Unmarshal(field.Type, &nested) == nil && nested.Type == "struct" {
			addTypes(types, nested.Fields, depth+1)
		}
	}
}

// fieldsOf returns the fields and the origins of columns.
func fieldsOf(columns []column) (fields []arrow.Field, origins []gpuframe.ColumnOrigin) {
	for _, c := range columns {
		fields = append(fields, arrow.Field{Name: c.name, Type: c.t, Nullable: true})
		origins = append(origins, c.origin)
	}
	return fields, origins
}

var primitives = map[string]arrow.DataType{
	"boolean": arrow.FixedWidthTypes.Boolean, "int": arrow.PrimitiveTypes.Int32, "long": arrow.PrimitiveTypes.Int64,
	"float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64,
	"date": arrow.FixedWidthTypes.Date32, "time": arrow.FixedWidthTypes.Time64us,
	"timestamp": &arrow.TimestampType{Unit: arrow.Microsecond}, "timestamptz": &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
	"timestamp_ns": &arrow.TimestampType{Unit: arrow.Nanosecond}, "timestamptz_ns": &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"},
	"string": arrow.BinaryTypes.String, "binary": arrow.BinaryTypes.Binary, "uuid": &arrow.FixedSizeBinaryType{ByteWidth: 16},
	"unknown": arrow.Null,
}

// mostFixed is the length of values of a fixed type at most.
const mostFixed = 64 << 10

func primitive(name string) (arrow.DataType, error) {
	if t := primitives[name]; t != nil {
		return t, nil
	}
	if digits, ok := within(name, "fixed[", "]"); ok {
		n, err := strconv.Atoi(digits)
		if err == nil && n > mostFixed {
			return nil, fmt.Errorf("the type %q, the limit is fixed[%d]: %w", name, mostFixed, ErrLimit)
		}
		if err == nil && n > 0 {
			return &arrow.FixedSizeBinaryType{ByteWidth: n}, nil
		}
	}
	if digits, ok := within(name, "decimal(", ")"); ok {
		precision, scale, _ := strings.Cut(digits, ",")
		p, err := strconv.Atoi(strings.TrimSpace(precision))
		s, failure := strconv.Atoi(strings.TrimSpace(scale))
		if err != nil || failure != nil || p < 1 || p > 38 || s < 0 || s > p {
			return nil, fmt.Errorf("the type %q: expected decimal(p,s) of up to 38 digits: %w", name, ErrMetadata)
		}
		return &arrow.Decimal128Type{Precision: int32(p), Scale: int32(s)}, nil
	}
	return nil, fmt.Errorf("the type %q: %w", name, ErrUnsupported)
}

// within returns the text between a prefix and a suffix.
func within(text, prefix, suffix string) (string, bool) {
	inner, ok := strings.CutPrefix(text, prefix)
	inner, also := strings.CutSuffix(inner, suffix)
	return inner, ok && also
}
