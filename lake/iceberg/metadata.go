package iceberg

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// mostMetadata is the length of a file of metadata at most, decompressed too.
const mostMetadata = 512 << 20

// metadata are those of a table.
type metadata struct {
	FormatVersion int    `json:"format-version"`
	Location      string `json:"location"`
	// Schema and PartitionSpec are those of tables of version 1 without the lists.
	Schema        *jsonSchema     `json:"schema"`
	Schemas       []*jsonSchema   `json:"schemas"`
	CurrentSchema *int            `json:"current-schema-id"`
	PartitionSpec []specField     `json:"partition-spec"`
	Specs         []partitionSpec `json:"partition-specs"`
	Snapshots     []*snapshot     `json:"snapshots"`
	Current       *int64          `json:"current-snapshot-id"`
	Log           []logEntry      `json:"snapshot-log"`
	Refs          map[string]ref  `json:"refs"`
	Properties    map[string]any  `json:"properties"`

	byID map[int64]*snapshot
	// types are those of fields without parts, by their IDs, in the newest schema that has them.
	types map[int]arrow.DataType
}

type partitionSpec struct {
	ID     int         `json:"spec-id"`
	Fields []specField `json:"fields"`
}

type specField struct {
	SourceID  int    `json:"source-id"`
	SourceIDs []int  `json:"source-ids"`
	ID        int    `json:"field-id"`
	Name      string `json:"name"`
	Transform string `json:"transform"`
}

// logEntry is a snapshot that became the current one at a time.
type logEntry struct {
	Timestamp int64 `json:"timestamp-ms"`
	ID        int64 `json:"snapshot-id"`
}

type ref struct {
	ID   int64  `json:"snapshot-id"`
	Type string `json:"type"`
}

// parseMetadata reads a file of metadata, which may be compressed.
func parseMetadata(data []byte) (*metadata, error) {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		from, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(io.LimitReader(from, mostMetadata+1))
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", err, ErrMetadata)
		}
		if len(data) > mostMetadata {
			return nil, fmt.Errorf("it has more than %d bytes decompressed: %w", mostMetadata, ErrLimit)
		}
	}
	m := &metadata{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrMetadata)
	}
	return m, m.check()
}

func (m *metadata) check() error {
	if m.FormatVersion < 1 || m.FormatVersion > 3 {
		return fmt.Errorf("it has the format version %d, this package reads 1 to 3: %w", m.FormatVersion, ErrUnsupported)
	}
	if m.Location == "" {
		return fmt.Errorf("it has no location: %w", ErrMetadata)
	}
	if m.Schemas == nil && m.Schema != nil {
		m.Schemas, m.CurrentSchema = []*jsonSchema{m.Schema}, &m.Schema.ID
	}
	if slices.Contains(m.Schemas, nil) || m.CurrentSchema == nil || m.schema(*m.CurrentSchema) == nil {
		return fmt.Errorf("its current schema is absent: %w", ErrMetadata)
	}
	if m.Specs == nil {
		m.Specs = []partitionSpec{{Fields: m.PartitionSpec}}
	}
	for _, spec := range m.Specs {
		for i := range spec.Fields {
			if spec.Fields[i].ID == 0 {
				spec.Fields[i].ID = 1000 + i // of tables of version 1
			}
			if sources := spec.Fields[i].SourceIDs; len(sources) == 1 && spec.Fields[i].SourceID == 0 {
				spec.Fields[i].SourceID = sources[0]
			}
		}
	}
	if slices.Contains(m.Snapshots, nil) {
		return fmt.Errorf("a snapshot is null: %w", ErrMetadata)
	}
	m.byID = make(map[int64]*snapshot, len(m.Snapshots))
	for _, s := range m.Snapshots {
		m.byID[s.ID] = s
	}
	m.types = map[int]arrow.DataType{}
	for _, s := range m.Schemas {
		addTypes(m.types, s.Fields, 0)
	}
	return nil
}

// snapshot returns a snapshot by its ID, or nil.
func (m *metadata) snapshot(id int64) *snapshot { return m.byID[id] }

// schema returns a schema, or nil.
func (m *metadata) schema(id int) *jsonSchema {
	for _, s := range m.Schemas {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// spec returns the fields of a partition spec.
func (m *metadata) spec(id int) ([]specField, bool) {
	for _, spec := range m.Specs {
		if spec.ID == id {
			return spec.Fields, true
		}
	}
	return nil, false
}

// property returns a property of the table, or empty text.
func (m *metadata) property(name string) string {
	text, _ := m.Properties[name].(string)
	return text
}
