package iceberg

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// pending is a snapshot that is not committed.
type pending struct {
	operation string
	write     string // a UUID
	snapshot  int64  // its ID
	files     []addedFile
	// data and described are the URIs of files that the write has made: those of data, and manifests and lists of this attempt.
	data, described []string
	attempt         int
}

// prepare writes the manifests of a snapshot on top of a state, and returns its description.
func (p *pending) prepare(ctx context.Context, s *state) (map[string]any, error) {
	b := newBudget(mostFiles, mostEntryBytes)
	before, err := s.currentManifests(ctx, b)
	if err != nil {
		return nil, err
	}
	var manifests []record
	var plus, minus, deletes counts
	number := 0
	write := func(data []byte) (string, error) {
		name := s.manifestName(fmt.Sprintf("%s-%d", p.write, p.attempt), number)
		number++
		p.described = append(p.described, name)
		return name, s.writeFile(ctx, name, data)
	}
	if len(p.files) > 0 {
		data, err := s.addedManifest(p.snapshot, p.files)
		if err != nil {
			return nil, err
		}
		for _, f := range p.files {
			plus.add(f.rows, f.size)
		}
		name, err := write(data)
		if err != nil {
			return nil, err
		}
		entry := s.listed(name, len(data), p.snapshot, plus)
		entry["partitions"] = s.summaries(p.files)
		manifests = append(manifests, entry)
	}
	for _, m := range before {
		if p.operation == "append" {
			manifests = append(manifests, m)
			continue
		}
		data, n, err := s.deletedManifest(ctx, m, p.snapshot, b)
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue
		}
		sum := &minus
		if content, _ := integerOf(m["content"]); content != 0 {
			sum = &deletes
		}
		sum.files, sum.rows, sum.bytes = sum.files+n.files, sum.rows+n.rows, sum.bytes+n.bytes
		name, err := write(data)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, s.deletedListed(m, name, len(data), p.snapshot, n))
	}
	list := storage.Join(s.location, fmt.Sprintf("metadata/snap-%d-%d-%s.avro", p.snapshot, p.attempt, p.write))
	header := map[string]string{"snapshot-id": fmt.Sprint(p.snapshot), "parent-snapshot-id": "null", "sequence-number": fmt.Sprint(s.about.Sequence + 1), "format-version": "2"}
	snapshot := map[string]any{
		"snapshot-id": p.snapshot, "sequence-number": s.about.Sequence + 1, "timestamp-ms": max(time.Now().UnixMilli(), s.about.Updated),
		"manifest-list": list, "schema-id": *s.metadata.CurrentSchema, "summary": p.summary(s, plus, minus, deletes),
	}
	if parent := s.parent(); parent != nil {
		header["parent-snapshot-id"] = fmt.Sprint(*parent)
		snapshot["parent-snapshot-id"] = *parent
	}
	data, err := encodeAvro(manifestListSchema, header, manifests)
	if err != nil {
		return nil, err
	}
	p.described = append(p.described, list)
	return snapshot, s.writeFile(ctx, list, data)
}

// parent is the ID of the current snapshot, or nil.
func (s *state) parent() *int64 {
	if current, err := s.metadata.current(); err == nil && current != nil {
		return &current.ID
	}
	return nil
}

// summary returns the notes of a snapshot. Totals are those of the snapshot before it and the files, if it has them.
func (p *pending) summary(s *state, plus, minus, deletes counts) map[string]string {
	text := map[string]string{"operation": p.operation, "engine-name": "gpuframe"}
	put := func(name string, value int64) {
		if value != 0 {
			text[name] = fmt.Sprint(value)
		}
	}
	put("added-data-files", int64(plus.files))
	put("added-records", plus.rows)
	put("added-files-size", plus.bytes)
	put("deleted-data-files", int64(minus.files))
	put("deleted-records", minus.rows)
	put("removed-delete-files", int64(deletes.files))
	put("removed-files-size", minus.bytes+deletes.bytes)
	current, _ := s.metadata.current()
	for name, value := range map[string]int64{
		"total-data-files": int64(plus.files), "total-records": plus.rows, "total-files-size": plus.bytes,
		"total-delete-files": 0, "total-position-deletes": 0, "total-equality-deletes": 0,
	} {
		if p.operation == "append" && current != nil {
			before, err := strconv.ParseInt(fmt.Sprint(current.Summary[name]), 10, 64)
			if err != nil {
				continue
			}
			value += before
		}
		text[name] = fmt.Sprint(value)
	}
	return text
}

// mostLog is the number of earlier files of metadata that the newest one names.
const mostLog = 100

// with returns the metadata with a snapshot as the current one.
func (s *state) with(snapshot map[string]any) ([]byte, error) {
	raw := map[string]json.RawMessage{}
	for key, value := range s.raw {
		raw[key] = value
	}
	id, at := snapshot["snapshot-id"], snapshot["timestamp-ms"]
	refs := map[string]json.RawMessage{}
	if text := raw["refs"]; text != nil {
		if err := json.Unmarshal(text, &refs); err != nil {
			return nil, fmt.Errorf("its branches: %w: %w", err, ErrMetadata)
		}
	}
	if refs == nil { // of the text null
		refs = map[string]json.RawMessage{}
	}
	var branch map[string]json.RawMessage
	if text := refs["main"]; text != nil {
		if err := json.Unmarshal(text, &branch); err != nil {
			return nil, fmt.Errorf("its branch main: %w: %w", err, ErrMetadata)
		}
	}
	if branch == nil {
		branch = map[string]json.RawMessage{"type": json.RawMessage(`"branch"`)}
	}
	var err error
	branch["snapshot-id"], err = json.Marshal(id)
	set := func(name string, value any) {
		if err == nil {
			raw[name], err = json.Marshal(value)
		}
	}
	if err == nil {
		refs["main"], err = json.Marshal(branch)
	}
	set("refs", refs)
	set("last-sequence-number", s.about.Sequence+1)
	set("last-updated-ms", at)
	set("current-snapshot-id", id)
	for name, value := range map[string]any{
		"snapshots": snapshot, "snapshot-log": map[string]any{"timestamp-ms": at, "snapshot-id": id},
		"metadata-log": map[string]any{"timestamp-ms": s.about.Updated, "metadata-file": s.file},
	} {
		var list []json.RawMessage
		if text := raw[name]; text != nil {
			if err := json.Unmarshal(text, &list); err != nil {
				return nil, fmt.Errorf("its %s: %w: %w", name, err, ErrMetadata)
			}
		}
		entry, failure := json.Marshal(value)
		if failure != nil {
			return nil, failure
		}
		if name == "metadata-log" {
			list = list[max(0, len(list)-mostLog+1):]
		}
		set(name, append(list, entry))
	}
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(raw, "", "  ")
}
