package iceberg

import (
	"context"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// addedFile is a file of data that a write adds.
type addedFile struct {
	name      string
	partition record
	*metrics
}

// entry returns the file as an entry of a manifest. The sequence numbers are those of the snapshot.
func (f addedFile) entry(snapshot int64) record {
	return record{
		"status": int32(added), "snapshot_id": snapshot, "sequence_number": nil, "file_sequence_number": nil,
		"data_file": record{
			"content": int32(dataContent), "file_path": f.name, "file_format": "PARQUET", "partition": f.partition, "record_count": f.rows, "file_size_in_bytes": f.size,
			"column_sizes": pairsOf(f.sizes), "value_counts": pairsOf(f.values), "null_value_counts": pairsOf(f.nulls), "lower_bounds": pairsOf(f.lower), "upper_bounds": pairsOf(f.upper),
			"split_offsets": f.offsets, "sort_order_id": nil,
		},
	}
}

// addedManifest returns the contents of a manifest with the files of a write.
func (s *state) addedManifest(snapshot int64, files []addedFile) ([]byte, error) {
	spec, err := s.specText()
	if err != nil {
		return nil, err
	}
	var entries []record
	for _, f := range files {
		entries = append(entries, f.entry(snapshot))
	}
	return encodeAvro(s.manifestSchema(), map[string]string{
		"schema": string(s.schema), "schema-id": fmt.Sprint(*s.metadata.CurrentSchema), "partition-spec": spec, "partition-spec-id": fmt.Sprint(s.about.Spec),
		"format-version": "2", "content": "data",
	}, entries)
}

// listed returns the entry of a manifest in a list of manifests.
func (s *state) listed(name string, length int, snapshot int64, counts counts) record {
	return record{
		"manifest_path": name, "manifest_length": int64(length), "partition_spec_id": int32(s.about.Spec), "content": int32(0),
		"sequence_number": s.about.Sequence + 1, "min_sequence_number": s.about.Sequence + 1, "added_snapshot_id": snapshot,
		"added_files_count": int32(counts.files), "existing_files_count": int32(0), "deleted_files_count": int32(0),
		"added_rows_count": counts.rows, "existing_rows_count": int64(0), "deleted_rows_count": int64(0),
		"partitions": nil, "key_metadata": nil,
	}
}

// counts are those of files.
type counts struct {
	files       int
	rows, bytes int64
}

func (c *counts) add(rows, bytes int64) {
	c.files++
	c.rows += rows
	c.bytes += bytes
}

// manifestMembers are the members of entries that lists of manifests of format version 2 have.
var manifestMembers = []string{
	"manifest_path", "manifest_length", "partition_spec_id", "content", "sequence_number", "min_sequence_number", "added_snapshot_id",
	"added_files_count", "existing_files_count", "deleted_files_count", "added_rows_count", "existing_rows_count", "deleted_rows_count",
}

// manifestAliases are names of members that some writers have in place of those of the specification.
var manifestAliases = map[string]string{
	"added_data_files_count": "added_files_count", "existing_data_files_count": "existing_files_count", "deleted_data_files_count": "deleted_files_count",
}

// currentManifests returns the entries of the list of manifests of the current snapshot.
func (s *state) currentManifests(ctx context.Context, b *budget) ([]record, error) {
	current, err := s.metadata.current()
	if err != nil || current == nil {
		return nil, err
	}
	t := &Table{from: s.from, root: s.root, metadata: s.metadata}
	name, err := t.fileName(current.ManifestList)
	if err != nil {
		return nil, err
	}
	data, err := t.need(ctx, name, mostManifest)
	if err != nil {
		return nil, inFile(name, err)
	}
	raw, err := decodeAvro(ctx, data, b)
	if err != nil {
		return nil, inFile(name, err)
	}
	for _, m := range raw.records {
		for alias, member := range manifestAliases {
			if value, ok := m[alias]; ok && m[member] == nil {
				m[member] = value
				delete(m, alias)
			}
		}
		for _, member := range manifestMembers {
			if m[member] == nil {
				return nil, inFile(name, fmt.Errorf("a manifest of the list has no %s, as those of format version 1: rewrite the manifests: %w", member, ErrUnsupported))
			}
		}
		for _, member := range []string{"partitions", "key_metadata"} {
			if _, ok := m[member]; !ok {
				m[member] = nil
			}
		}
		if partitions, ok := m["partitions"].([]any); ok {
			for _, each := range partitions {
				if fields, ok := each.(record); ok && fields["contains_nan"] == nil {
					fields["contains_nan"] = nil
				}
			}
		}
	}
	return raw.records, nil
}

// deletedManifest returns a manifest that marks the files of another one as deleted, and their counts. Without files it has no contents.
func (s *state) deletedManifest(ctx context.Context, listed record, snapshot int64, b *budget) (data []byte, n counts, err error) {
	path, _ := listed["manifest_path"].(string)
	t := &Table{from: s.from, root: s.root, metadata: s.metadata}
	name, err := t.fileName(path)
	if err != nil {
		return nil, n, err
	}
	contents, err := t.need(ctx, name, mostManifest)
	if err != nil {
		return nil, n, inFile(name, err)
	}
	raw, err := decodeAvro(ctx, contents, b)
	if err != nil {
		return nil, n, inFile(name, err)
	}
	for _, member := range []string{"snapshot_id", "sequence_number"} {
		if !slices.Contains(raw.fields, member) {
			return nil, n, inFile(name, fmt.Errorf("the manifest has no %s, as those of format version 1: rewrite the manifests: %w", member, ErrUnsupported))
		}
	}
	var entries []record
	for _, e := range raw.records {
		status, _ := integerOf(e["status"])
		if status == deleted {
			continue
		}
		for _, member := range []string{"sequence_number", "file_sequence_number"} {
			if e[member] == nil && slices.Contains(raw.fields, member) {
				e[member] = listed["sequence_number"]
			}
		}
		e["status"], e["snapshot_id"] = int32(deleted), snapshot
		file, _ := e["data_file"].(record)
		rows, _ := integerOf(file["record_count"])
		bytes, _ := integerOf(file["file_size_in_bytes"])
		n.add(rows, bytes)
		entries = append(entries, e)
	}
	if len(entries) == 0 {
		return nil, n, nil
	}
	data, err = encodeAvro(raw.schema, raw.metadata, entries)
	return data, n, inFile(name, err)
}

// deletedListed returns the entry of such a manifest in a list of manifests.
func (s *state) deletedListed(before record, name string, length int, snapshot int64, n counts) record {
	entry := s.listed(name, length, snapshot, counts{})
	for _, member := range []string{"partition_spec_id", "content", "partitions", "key_metadata"} {
		entry[member] = before[member]
	}
	entry["deleted_files_count"], entry["deleted_rows_count"] = int32(n.files), n.rows
	return entry
}

// manifestName returns the name of a manifest of a write.
func (s *state) manifestName(write string, number int) string {
	return storage.Join(s.location, fmt.Sprintf("metadata/%s-m%d.avro", write, number))
}
