package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/names"
	"github.com/gpuframe/gpuframe/internal/querydata"
)

// Types returns the names of the types of casts, sorted.
func Types() []string { return slices.Sorted(maps.Keys(types)) }

// types are the types of casts.
var types = map[string]arrow.DataType{
	"bool": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "int16": arrow.PrimitiveTypes.Int16, "int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64,
	"uint8": arrow.PrimitiveTypes.Uint8, "uint16": arrow.PrimitiveTypes.Uint16, "uint32": arrow.PrimitiveTypes.Uint32, "uint64": arrow.PrimitiveTypes.Uint64,
	"float32": arrow.PrimitiveTypes.Float32, "float64": arrow.PrimitiveTypes.Float64,
	"string": arrow.BinaryTypes.String, "date": arrow.FixedWidthTypes.Date32, "timestamp": arrow.FixedWidthTypes.Timestamp_us,
}

// ParseTypes returns the types of columns that texts name: "id=string, at=timestamp[ms]". Types
// are those of casts, and those of Arrow by the names that its libraries print.
func ParseTypes(texts []string) (map[string]arrow.DataType, error) {
	parsed := map[string]arrow.DataType{}
	for _, text := range texts {
		for _, part := range outsideBrackets(text) {
			column, name, ok := cutLast(part, "=")
			if column, name = strings.TrimSpace(column), strings.TrimSpace(name); !ok || column == "" {
				return nil, fmt.Errorf("%q, expected a column and its type, such as id=string", part)
			}
			t := types[name]
			if t == nil {
				if t, ok = querydata.Type(name); !ok {
					return nil, fmt.Errorf("column %q: %w", column, errors.New(names.Unknown("type", name, Types())))
				}
			}
			if _, twice := parsed[column]; twice {
				return nil, fmt.Errorf("column %q has two types, expected one", column)
			}
			parsed[column] = t
		}
	}
	return parsed, nil
}

// outsideBrackets splits a text at its commas that are not in brackets: types have some.
func outsideBrackets(text string) (parts []string) {
	depth, begin := 0, 0
	for i, r := range text {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				parts, begin = append(parts, text[begin:i]), i+1
			}
		}
	}
	return append(parts, text[begin:])
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}
