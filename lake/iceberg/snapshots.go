package iceberg

import (
	"fmt"
	"slices"
	"time"
)

// snapshot is a snapshot of a table as its metadata describe it.
type snapshot struct {
	ID           int64          `json:"snapshot-id"`
	Parent       *int64         `json:"parent-snapshot-id"`
	Sequence     int64          `json:"sequence-number"`
	Timestamp    int64          `json:"timestamp-ms"`
	ManifestList string         `json:"manifest-list"`
	Manifests    []string       `json:"manifests"`
	Summary      map[string]any `json:"summary"`
	Schema       *int           `json:"schema-id"`
}

// Snapshot describes a snapshot of a table.
type Snapshot struct {
	ID int64
	// Parent is the ID of the snapshot before it, or nil.
	Parent *int64
	// Sequence is its number in the order of writes. Tables of format version 1 have none.
	Sequence int64
	// Time is when it was written.
	Time time.Time
	// Operation is "append", "overwrite", "delete" or "replace", or empty in old tables.
	Operation string
	// Summary has the notes of the writer.
	Summary map[string]string
}

// Ref is a branch or a tag of a table.
type Ref struct {
	Name string
	// Snapshot is the ID of its snapshot.
	Snapshot int64
	// Branch is true for a branch and false for a tag.
	Branch bool
}

func (s *snapshot) public() Snapshot {
	p := Snapshot{ID: s.ID, Sequence: s.Sequence, Time: time.UnixMilli(s.Timestamp).UTC(), Summary: map[string]string{}}
	for key, value := range s.Summary {
		p.Summary[key] = fmt.Sprint(value)
	}
	p.Operation = p.Summary["operation"]
	if s.Parent != nil {
		parent := *s.Parent
		p.Parent = &parent
	}
	return p
}

// current returns the current snapshot, or nil.
func (m *metadata) current() (*snapshot, error) {
	id := int64(-1)
	if m.Current != nil {
		id = *m.Current
	} else if main, ok := m.Refs["main"]; ok {
		id = main.ID
	}
	if id == -1 {
		return nil, nil
	}
	s := m.snapshot(id)
	if s == nil {
		return nil, fmt.Errorf("its current snapshot %d is absent: %w", id, ErrMetadata)
	}
	return s, nil
}

// choose returns the snapshot of the options, nil for a table without rows, and the schema to read it by.
func (m *metadata) choose(options Options) (*snapshot, *jsonSchema, error) {
	current := m.schema(*m.CurrentSchema)
	choices := 0
	for _, chosen := range []bool{options.Snapshot != nil, !options.Timestamp.IsZero(), options.Ref != ""} {
		if chosen {
			choices++
		}
	}
	switch {
	case choices > 1:
		return nil, nil, fmt.Errorf("more than one of a snapshot, a timestamp and a name of a branch or tag is given, expected one: %w", ErrSnapshot)
	case options.Snapshot != nil:
		s := m.snapshot(*options.Snapshot)
		if s == nil {
			return nil, nil, fmt.Errorf("snapshot %d: %w", *options.Snapshot, ErrSnapshot)
		}
		return s, m.schemaOf(s), nil
	case !options.Timestamp.IsZero():
		s, err := m.at(options.Timestamp)
		if err != nil {
			return nil, nil, err
		}
		return s, m.schemaOf(s), nil
	case options.Ref != "":
		return m.named(options.Ref)
	}
	s, err := m.current()
	return s, current, err
}

// named returns the snapshot of a branch or a tag. Branches are read by the current schema of the table.
func (m *metadata) named(name string) (*snapshot, *jsonSchema, error) {
	ref, ok := m.Refs[name]
	if !ok && name == "main" {
		s, err := m.current()
		return s, m.schema(*m.CurrentSchema), err
	}
	if !ok {
		return nil, nil, fmt.Errorf("there is no branch or tag %q: %w", name, ErrSnapshot)
	}
	s := m.snapshot(ref.ID)
	if s == nil {
		return nil, nil, fmt.Errorf("the snapshot %d of %q is absent: %w", ref.ID, name, ErrMetadata)
	}
	if ref.Type == "tag" {
		return s, m.schemaOf(s), nil
	}
	return s, m.schema(*m.CurrentSchema), nil
}

// schemaOf returns the schema that was the current one when a snapshot was written.
func (m *metadata) schemaOf(s *snapshot) *jsonSchema {
	if s.Schema != nil {
		if schema := m.schema(*s.Schema); schema != nil {
			return schema
		}
	}
	return m.schema(*m.CurrentSchema)
}

// at returns the snapshot that was the current one at a time.
func (m *metadata) at(t time.Time) (*snapshot, error) {
	log := m.Log
	if len(log) == 0 {
		log = m.ancestors()
	}
	var newest *logEntry
	for i := range log {
		if !time.UnixMilli(log[i].Timestamp).After(t) && (newest == nil || log[i].Timestamp >= newest.Timestamp) {
			newest = &log[i]
		}
	}
	if newest == nil {
		return nil, fmt.Errorf("none is as old as %s: %w", t.Format(time.RFC3339Nano), ErrSnapshot)
	}
	s := m.snapshot(newest.ID)
	if s == nil {
		return nil, fmt.Errorf("snapshot %d, the current one at %s, was removed: %w", newest.ID, t.Format(time.RFC3339Nano), ErrSnapshot)
	}
	return s, nil
}

// ancestors are the current snapshot and those before it, from the oldest one on.
func (m *metadata) ancestors() (log []logEntry) {
	s, err := m.current()
	for err == nil && s != nil && len(log) < len(m.Snapshots) {
		log = append(log, logEntry{s.Timestamp, s.ID})
		if s.Parent == nil {
			break
		}
		s = m.snapshot(*s.Parent)
	}
	slices.Reverse(log)
	return log
}
