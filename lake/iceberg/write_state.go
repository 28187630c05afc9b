package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// state are the metadata of a table that a write adds to.
type state struct {
	from     storage.Storage
	metadata *metadata
	raw      map[string]json.RawMessage
	about    writeable
	schema   json.RawMessage
	required []int
	// uuids are the IDs of columns of UUIDs.
	uuids   []int
	columns []column
	// partitions are the fields of the default spec.
	partitions []writtenPartition
	// location is that of the metadata, root as gpuframe has it.
	location, root string
	// file is the name of the metadata, and version its number in a folder.
	file    string
	version int64
}

// writeable are the members of the metadata that only writes need.
type writeable struct {
	UUID     string            `json:"table-uuid"`
	Sequence int64             `json:"last-sequence-number"`
	Updated  int64             `json:"last-updated-ms"`
	Spec     int               `json:"default-spec-id"`
	Schemas  []json.RawMessage `json:"schemas"`
}

// newState reads metadata. A table that this package cannot write is an error.
func newState(from storage.Storage, file string, data []byte) (*state, error) {
	s := &state{from: from, file: file}
	var err error
	if s.metadata, err = parseMetadata(data); err != nil {
		return nil, err
	}
	if err = json.Unmarshal(data, &s.raw); err == nil {
		err = json.Unmarshal(data, &s.about)
	}
	if err != nil { // also of compressed metadata
		return nil, fmt.Errorf("%w: %w", err, ErrUnsupported)
	}
	m := s.metadata
	if m.FormatVersion != 2 {
		return nil, fmt.Errorf("it has the format version %d, this package writes 2: %w", m.FormatVersion, ErrUnsupported)
	}
	if current, err := m.current(); err != nil || current != nil && current.ManifestList == "" {
		return nil, fmt.Errorf("its current snapshot has no list of manifests: %w", ErrMetadata)
	}
	if s.columns, err = columnsOf(m.schema(*m.CurrentSchema), nil); err != nil {
		return nil, err
	}
	if err := s.findSchema(); err != nil {
		return nil, err
	}
	fields, ok := m.spec(s.about.Spec)
	if !ok {
		return nil, fmt.Errorf("its default partition spec %d is absent: %w", s.about.Spec, ErrMetadata)
	}
	if s.partitions, err = newPartitions(fields, s.columns, s.uuids); err != nil {
		return nil, err
	}
	s.location = strings.TrimRight(m.Location, "/")
	s.root, err = pathOf(from, s.location)
	return s, err
}

// findSchema finds the current schema as the metadata have it, and the columns that it requires.
func (s *state) findSchema() error {
	for _, text := range s.about.Schemas {
		var schema struct {
			ID     int `json:"schema-id"`
			Fields []struct {
				ID       int    `json:"id"`
				Name     string `json:"name"`
				Required bool   `json:"required"`
				Type     any    `json:"type"`
			} `json:"fields"`
		}
		if err := json.Unmarshal(text, &schema); err != nil {
			return fmt.Errorf("%w: %w", err, ErrMetadata)
		}
		if schema.ID != *s.metadata.CurrentSchema {
			continue
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			return fmt.Errorf("%w: %w", err, ErrMetadata)
		}
		s.schema = compact.Bytes()
		for _, field := range schema.Fields {
			if part := unwritable(field.Type); part != "" && field.Type != "uuid" {
				return fmt.Errorf("column %q has %s, which this package does not write: %w", field.Name, part, ErrUnsupported)
			}
			if field.Required {
				s.required = append(s.required, field.ID)
			}
			if field.Type == "uuid" {
				s.uuids = append(s.uuids, field.ID)
			}
		}
	}
	return nil
}

// unwritable describes the part of a type that keeps a table from being written, or returns empty text: nulls of parts are not
// counted, and parts lack the mark of UUIDs.
func unwritable(t any) string {
	nested, ok := t.(map[string]any)
	if !ok {
		if t == "uuid" {
			return "the type uuid"
		}
		return ""
	}
	fields, _ := nested["fields"].([]any)
	parts := []any{nested["element"], nested["key"], nested["value"]}
	for _, each := range fields {
		field, _ := each.(map[string]any)
		if field["required"] == true {
			return fmt.Sprintf("the required part %q", field["name"])
		}
		parts = append(parts, field["type"])
	}
	if nested["element-required"] == true || nested["value-required"] == true {
		return "required elements or values"
	}
	for _, part := range parts {
		if text := unwritable(part); text != "" {
			return text
		}
	}
	return ""
}

// writeFile writes a new file of the table by its URI.
func (s *state) writeFile(ctx context.Context, uri string, data []byte) error {
	name, err := pathOf(s.from, uri)
	if err != nil {
		return err
	}
	return inFile(name, s.from.Write(ctx, name, data))
}
