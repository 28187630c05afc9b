package delta

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// column is a column of the table or a part of one, as the schema of the log describes it.
type column struct {
	name string
	// physical is the name in files, partition values and statistics.
	physical string
	t        arrow.DataType
	origin   gpuframe.ColumnOrigin
	// widened reports that older files have another type.
	widened bool
}

// mapping is how columns are found in files: "none", "name" or "id".
type mapping string

type jsonStruct struct {
	Type   string `json:"type"`
	Fields []struct {
		Name     string          `json:"name"`
		Type     json.RawMessage `json:"type"`
		Metadata map[string]any  `json:"metadata"`
	} `json:"fields"`
}

type jsonNested struct {
	Type        string          `json:"type"`
	ElementType json.RawMessage `json:"elementType"`
	KeyType     json.RawMessage `json:"keyType"`
	ValueType   json.RawMessage `json:"valueType"`
}

// mostDepth is the number of types within each other at most.
const mostDepth = 64

// parseSchema reads the schema of the action metaData.
func parseSchema(text string, by mapping) ([]column, error) {
	columns, err := structColumns(json.RawMessage(text), by, 0)
	if err != nil {
		return nil, fmt.Errorf("the schema of the table: %w", err)
	}
	return columns, nil
}

func structColumns(text json.RawMessage, by mapping, depth int) ([]column, error) {
	var s jsonStruct
	if err := json.Unmarshal(text, &s); err != nil || s.Type != "struct" {
		return nil, fmt.Errorf("expected a struct with fields (%v): %w", err, ErrLog)
	}
	var columns []column
	names := map[string]bool{}
	for _, field := range s.Fields {
		if names[field.Name] || field.Name == "" {
			return nil, fmt.Errorf("the name %q is empty or there twice: %w", field.Name, ErrLog)
		}
		names[field.Name] = true
		t, origins, err := parseType(field.Type, by, depth+1)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", field.Name, err)
		}
		c := column{name: field.Name, physical: field.Name, t: t, origin: gpuframe.ColumnOrigin{Members: origins}}
		_, c.widened = field.Metadata["delta.typeChanges"]
		if by != "none" {
			if err := c.mapped(field.Metadata, by); err != nil {
				return nil, err
			}
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// mapped sets the names and IDs in files.
func (c *column) mapped(about map[string]any, by mapping) error {
	physical, ok := about["delta.columnMapping.physicalName"].(string)
	if !ok || physical == "" {
		return fmt.Errorf("column %q has no delta.columnMapping.physicalName: %w", c.name, ErrLog)
	}
	c.physical = physical
	if by == "id" {
		id, ok := about["delta.columnMapping.id"].(float64)
		if !ok || id != float64(int32(id)) || id < 1 {
			return fmt.Errorf("column %q has no delta.columnMapping.id: %w", c.name, ErrLog)
		}
		c.origin.ID = int32(id)
		return nil // files without IDs have none of the columns
	}
	c.origin.Name = physical
	return nil
}

// parseType returns a type, and the origins of its parts if columns are mapped.
func parseType(text json.RawMessage, by mapping, depth int) (arrow.DataType, []gpuframe.ColumnOrigin, error) {
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
		return nil, nil, fmt.Errorf("a type is no text and no object: %w: %w", err, ErrLog)
	}
	switch nested.Type {
	case "struct":
		columns, err := structColumns(text, by, depth)
		if err != nil {
			return nil, nil, err
		}
		fields, origins := fieldsOf(columns)
		return arrow.StructOf(fields...), origins, nil
	case "array":
		element, origins, err := parseType(nested.ElementType, by, depth+1)
		if err != nil {
			return nil, nil, err
		}
		return arrow.ListOf(element), []gpuframe.ColumnOrigin{{Members: origins}}, nil
	case "map":
		key, keys, err := parseType(nested.KeyType, by, depth+1)
		if err != nil {
			return nil, nil, err
		}
		value, values, err := parseType(nested.ValueType, by, depth+1)
		if err != nil {
			return nil, nil, err
		}
		return arrow.MapOf(key, value), []gpuframe.ColumnOrigin{{Members: keys}, {Members: values}}, nil
	}
	return nil, nil, fmt.Errorf("the type %q: %w", nested.Type, ErrUnsupported)
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
	"string": arrow.BinaryTypes.String, "binary": arrow.BinaryTypes.Binary, "boolean": arrow.FixedWidthTypes.Boolean,
	"byte": arrow.PrimitiveTypes.Int8, "short": arrow.PrimitiveTypes.Int16, "integer": arrow.PrimitiveTypes.Int32, "long": arrow.PrimitiveTypes.Int64,
	"float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64,
	"date": arrow.FixedWidthTypes.Date32, "void": arrow.Null,
	"timestamp":     &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
	"timestamp_ntz": &arrow.TimestampType{Unit: arrow.Microsecond},
	"decimal":       &arrow.Decimal128Type{Precision: 10},
}

func primitive(name string) (arrow.DataType, error) {
	if t := primitives[name]; t != nil {
		return t, nil
	}
	digits, ok := strings.CutPrefix(name, "decimal(")
	digits, also := strings.CutSuffix(digits, ")")
	if !ok || !also {
		return nil, fmt.Errorf("the type %q: %w", name, ErrUnsupported)
	}
	precision, scale, _ := strings.Cut(digits, ",")
	p, err := strconv.Atoi(strings.TrimSpace(precision))
	s, failure := strconv.Atoi(strings.TrimSpace(scale))
	if err != nil || failure != nil || p < 1 || p > 38 || s < 0 || s > p {
		return nil, fmt.Errorf("the type %q: expected decimal(p,s) of up to 38 digits: %w", name, ErrLog)
	}
	return &arrow.Decimal128Type{Precision: int32(p), Scale: int32(s)}, nil
}
