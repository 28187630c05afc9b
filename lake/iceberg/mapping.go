package iceberg

import (
	"encoding/json"
	"fmt"
)

// nameMapping is the property of tables with the names of columns in files without field IDs.
const nameMapping = "schema.name-mapping.default"

type mappedField struct {
	Names  []string      `json:"names"`
	ID     *int          `json:"field-id"`
	Fields []mappedField `json:"fields"`
}

// parseMapping returns the names of columns in files without field IDs, by field IDs, or nil for tables without a mapping.
func parseMapping(text string) (map[int][]string, error) {
	if text == "" {
		return nil, nil
	}
	var fields []mappedField
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return nil, fmt.Errorf("the property %s: %w: %w", nameMapping, err, ErrMetadata)
	}
	names := map[int][]string{}
	return names, addNames(names, fields, 0)
}

func addNames(names map[int][]string, fields []mappedField, depth int) error {
	if depth > mostDepth {
		return fmt.Errorf("the property %s: fields are within each other more than %d times: %w", nameMapping, mostDepth, ErrLimit)
	}
	for _, field := range fields {
		if field.ID != nil {
			names[*field.ID] = append(names[*field.ID], field.Names...)
		}
		if err := addNames(names, field.Fields, depth+1); err != nil {
			return err
		}
	}
	return nil
}
