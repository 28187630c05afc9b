package sink

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// inParquet reports whether a Parquet file has a type. It is read as it was written, except for seconds, which become
// milliseconds, and dates of 64 bits, which become those of 32.
func inParquet(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return slices.Contains([]arrow.Type{arrow.STRING, arrow.BINARY}, t.ValueType.ID())
	case *arrow.StructType:
		return t.NumFields() > 0
	case *arrow.FixedSizeBinaryType:
		return t.ByteWidth > 0
	}
	switch t.ID() {
	case arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT32, arrow.FLOAT64, arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY,
		arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.DECIMAL128, arrow.DECIMAL256, arrow.LIST, arrow.FIXED_SIZE_LIST, arrow.MAP:
		return true
	}
	return false
}

// holdsTypes checks the types of a schema and below.
func holdsTypes(schema *arrow.Schema, holds func(arrow.DataType) bool) error {
	for _, field := range schema.Fields() {
		if refused := firstRefused(field.Type, holds); refused != nil {
			return fmt.Errorf("column %q of %v: %v is not supported: cast or drop the column: %w", field.Name, field.Type, refused, ErrUnsupported)
		}
	}
	return nil
}

// firstRefused returns the first type of a tree that is not held, or nil.
func firstRefused(t arrow.DataType, holds func(arrow.DataType) bool) arrow.DataType {
	if !holds(t) {
		return t
	}
	if nested, ok := t.(arrow.NestedType); ok {
		for _, field := range nested.Fields() {
			if refused := firstRefused(field.Type, holds); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// holdsParts checks the types within the nested types of a schema.
func holdsParts(schema *arrow.Schema) error {
	for _, field := range schema.Fields() {
		nested, ok := field.Type.(arrow.NestedType)
		if !ok {
			continue
		}
		for _, part := range nested.Fields() {
			if firstRefused(part.Type, func(t arrow.DataType) bool { return t.ID() != arrow.DICTIONARY && t.ID() != arrow.DURATION }) != nil {
				return fmt.Errorf("column %q of %v: dictionaries and durations within nested types are not supported: %w", field.Name, field.Type, ErrUnsupported)
			}
		}
	}
	return nil
}
