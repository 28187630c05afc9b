package iceberg_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// object is a JSON object.
type object = map[string]any

// written is a table that a test writes by hand. Members of about are those of its metadata.
type written struct {
	t     testing.TB
	root  string
	about object
	// partitions are the fields of partitions in manifests, as Avro has them, by the IDs of specs.
	partitions map[int]string
	manifests  []object
	snapshots  []object
	sequence   int64
	version    int
}

// newTable returns a table of format version 2 with columns, given by lines "ID name type", that is not partitioned.
func newTable(t testing.TB, columns string) *written {
	w := &written{t: t, root: filepath.Join(t.TempDir(), "table"), partitions: map[int]string{}}
	w.about = object{"format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": w.root, "last-updated-ms": 1, "properties": object{}}
	w.schema(0, columns)
	w.spec(0, "")
	return w
}

// schema adds a schema and makes it the current one. A type may be JSON; "= value" behind it is the initial default.
func (w *written) schema(id int, columns string) {
	var fields []any
	for line := range strings.Lines(columns) {
		parts := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(parts) < 3 {
			continue
		}
		kind, value, has := strings.Cut(parts[2], " = ")
		field := object{"id": json.Number(parts[0]), "name": parts[1], "required": false, "type": kind}
		if strings.HasPrefix(kind, "{") {
			field["type"] = json.RawMessage(kind)
		}
		if has {
			field["initial-default"] = json.RawMessage(value)
		}
		fields = append(fields, field)
	}
	list, _ := w.about["schemas"].([]object)
	w.about["schemas"] = append(list, object{"type": "struct", "schema-id": id, "fields": fields})
	w.about["current-schema-id"] = id
}

// spec adds a partition spec of lines "ID name transform source type", where the type is that of Avro.
func (w *written) spec(id int, lines string) {
	fields, partition := []any{}, []string{}
	for line := range strings.Lines(lines) {
		parts := strings.Fields(line)
		fields = append(fields, object{"field-id": json.Number(parts[0]), "name": parts[1], "transform": parts[2], "source-id": json.Number(parts[3])})
		partition = append(partition, fmt.Sprintf(`{"name": %q, "type": ["null", %s], "default": null, "field-id": %s}`, parts[1], strings.Join(parts[4:], " "), parts[0]))
	}
	list, _ := w.about["partition-specs"].([]object)
	w.about["partition-specs"] = append(list, object{"spec-id": id, "fields": fields})
	w.about["default-spec-id"] = id
	w.partitions[id] = strings.Join(partition, ", ")
}

func (w *written) file(name string, data []byte) {
	path := filepath.Join(w.root, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(w.t, os.WriteFile(path, data, 0o666))
}

// parquet writes rows of JSON as a file of the table.
func (w *written) parquet(name string, fields []arrow.Field, rows string) {
	schema := arrow.NewSchema(fields, nil)
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	require.NoError(w.t, err)
	defer record.Release()
	var data bytes.Buffer
	writer, err := pqarrow.NewFileWriter(schema, &data, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	require.NoError(w.t, err)
	require.NoError(w.t, writer.Write(record))
	require.NoError(w.t, writer.Close())
	w.file(name, data.Bytes())
}

func field(id int, name string, t arrow.DataType) arrow.Field {
	f := arrow.Field{Name: name, Type: t, Nullable: true}
	if id > 0 {
		f.Metadata = arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{fmt.Sprint(id)})
	}
	return f
}

func long(id int, name string) arrow.Field { return field(id, name, arrow.PrimitiveTypes.Int64) }
func text(id int, name string) arrow.Field { return field(id, name, arrow.BinaryTypes.String) }

// data is the entry of a file in a manifest, with further members.
func (w *written) data(name string, rows int, more object) object {
	e := object{"content": 0, "file_path": w.root + "/" + name, "file_format": "PARQUET", "record_count": rows, "file_size_in_bytes": 1, "partition": object{}, "spec": 0}
	maps.Copy(e, more)
	return e
}

// positions writes a file with position deletes, and returns its entry.
func (w *written) positions(name string, of map[string][]int64, more object) object {
	var rows []string
	for _, path := range slices.Sorted(maps.Keys(of)) {
		for _, row := range of[path] {
			rows = append(rows, fmt.Sprintf(`{"file_path": %q, "pos": %d}`, w.root+"/"+path, row))
		}
	}
	w.parquet(name, []arrow.Field{text(2147483546, "file_path"), long(2147483545, "pos")}, "["+strings.Join(rows, ",")+"]")
	return w.data(name, len(rows), merged(object{"content": 1}, more))
}

func merged(a, b object) object {
	maps.Copy(a, b)
	return a
}

const (
	entrySchema = `{"type": "record", "name": "manifest_entry", "fields": [
		{"name": "status", "type": "int", "field-id": 0}, {"name": "snapshot_id", "type": ["null", "long"], "default": null, "field-id": 1},
		{"name": "sequence_number", "type": ["null", "long"], "default": null, "field-id": 3},
		{"name": "data_file", "field-id": 2, "type": {"type": "record", "name": "r2", "fields": [
			{"name": "content", "type": "int", "field-id": 134}, {"name": "file_path", "type": "string", "field-id": 100}, {"name": "file_format", "type": "string", "field-id": 101},
			{"name": "partition", "field-id": 102, "type": {"type": "record", "name": "r102", "fields": [%s]}},
			{"name": "record_count", "type": "long", "field-id": 103}, {"name": "file_size_in_bytes", "type": "long", "field-id": 104},
			{"name": "value_counts", "default": null, "field-id": 109, "type": ["null", {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k1", "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "long"}]}}]},
			{"name": "null_value_counts", "default": null, "field-id": 110, "type": ["null", {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k2", "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "long"}]}}]},
			{"name": "lower_bounds", "default": null, "field-id": 125, "type": ["null", {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k3", "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "bytes"}]}}]},
			{"name": "upper_bounds", "default": null, "field-id": 128, "type": ["null", {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k4", "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "bytes"}]}}]},
			{"name": "key_metadata", "type": ["null", "bytes"], "default": null, "field-id": 131},
			{"name": "equality_ids", "type": ["null", {"type": "array", "items": "int"}], "default": null, "field-id": 135},
			{"name": "referenced_data_file", "type": ["null", "string"], "default": null, "field-id": 143},
			{"name": "content_offset", "type": ["null", "long"], "default": null, "field-id": 144},
			{"name": "content_size_in_bytes", "type": ["null", "long"], "default": null, "field-id": 145}]}}]}`
	listSchema = `{"type": "record", "name": "manifest_file", "fields": [
		{"name": "manifest_path", "type": "string", "field-id": 500}, {"name": "manifest_length", "type": "long", "field-id": 501}, {"name": "partition_spec_id", "type": "int", "field-id": 502},
		{"name": "content", "type": "int", "field-id": 517}, {"name": "sequence_number", "type": "long", "field-id": 515}, {"name": "min_sequence_number", "type": "long", "field-id": 516},
		{"name": "added_snapshot_id", "type": "long", "field-id": 503}, {"name": "added_files_count", "type": "int", "field-id": 504},
		{"name": "existing_files_count", "type": "int", "field-id": 505}, {"name": "deleted_files_count", "type": "int", "field-id": 506}, {"name": "added_rows_count", "type": "long", "field-id": 512},
		{"name": "existing_rows_count", "type": "long", "field-id": 513}, {"name": "deleted_rows_count", "type": "long", "field-id": 514}, {"name": "key_metadata", "type": ["null", "bytes"], "default": null, "field-id": 519}]}`
)

// avro writes records as a file.
func (w *written) avro(name, schema string, records []object) {
	parsed, err := avro.Parse(schema)
	require.NoError(w.t, err)
	var data bytes.Buffer
	writer, err := ocf.NewWriter(&data, parsed, ocf.WithCodec(ocf.DeflateCodec(-1)))
	require.NoError(w.t, err)
	for _, record := range records {
		require.NoError(w.t, writer.Encode(record))
	}
	require.NoError(w.t, writer.Close())
	w.file(name, data.Bytes())
}

// counts and bounds are members of entries by IDs of columns.
func counts(of map[int]int64) any { return pairs(of) }
func bounds(of map[int]string) any {
	bytes := map[int][]byte{}
	for id, value := range of {
		bytes[id] = []byte(value)
	}
	return pairs(bytes)
}

func pairs[T any](of map[int]T) (list []any) {
	for _, id := range slices.Sorted(maps.Keys(of)) {
		list = append(list, object{"key": id, "value": of[id]})
	}
	return list
}

// commit writes a snapshot that adds files to those before it, and returns its ID. Files of a spec and a content have a manifest.
func (w *written) commit(files ...object) int64 {
	w.sequence++
	groups := map[string][]object{}
	for _, f := range files {
		f = maps.Clone(f)
		kind := "data"
		if f["content"] != 0 {
			kind = "deletes"
		}
		entry := object{"status": 1, "data_file": f}
		for _, name := range []string{"status", "sequence_number"} {
			if value, ok := f[name]; ok {
				entry[name] = value
				delete(f, name)
			}
		}
		key := fmt.Sprintf("%s-%v", kind, f["spec"])
		delete(f, "spec")
		groups[key] = append(groups[key], entry)
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		kind, number, _ := strings.Cut(key, "-")
		var spec int
		_, err := fmt.Sscan(number, &spec)
		require.NoError(w.t, err)
		name := fmt.Sprintf("metadata/%d-%s.avro", w.sequence, key)
		w.avro(name, fmt.Sprintf(entrySchema, w.partitions[spec]), groups[key])
		content := 0
		if kind == "deletes" {
			content = 1
		}
		w.manifests = append(w.manifests, object{"manifest_path": w.root + "/" + name, "manifest_length": 1, "partition_spec_id": spec, "content": content,
			"sequence_number": w.sequence, "min_sequence_number": w.sequence, "added_snapshot_id": w.sequence * 10,
			"added_files_count": len(groups[key]), "existing_files_count": 0, "deleted_files_count": 0, "added_rows_count": len(groups[key]), "existing_rows_count": 0, "deleted_rows_count": 0})
	}
	return w.snapshot()
}

// snapshot writes a snapshot of the manifests, and the metadata.
func (w *written) snapshot() int64 {
	list := fmt.Sprintf("metadata/snap-%d.avro", w.sequence)
	w.avro(list, listSchema, w.manifests)
	id := w.sequence * 10
	s := object{"snapshot-id": id, "sequence-number": w.sequence, "timestamp-ms": w.sequence * 1000, "manifest-list": w.root + "/" + list,
		"summary": object{"operation": "append"}, "schema-id": w.about["current-schema-id"]}
	if len(w.snapshots) > 0 {
		s["parent-snapshot-id"] = w.snapshots[len(w.snapshots)-1]["snapshot-id"]
	}
	w.snapshots = append(w.snapshots, s)
	w.about["snapshots"], w.about["current-snapshot-id"] = w.snapshots, id
	w.write()
	return id
}

// write writes the metadata as the next version.
func (w *written) write() {
	w.version++
	data, err := json.Marshal(w.about)
	require.NoError(w.t, err)
	w.file(fmt.Sprintf("metadata/v%d.metadata.json", w.version), data)
}

func (w *written) open(options iceberg.Options) *iceberg.Table {
	w.t.Helper()
	table, err := iceberg.Open(w.t.Context(), w.root, options)
	require.NoError(w.t, err)
	return table
}

// fail requires an error of a condition.
func (w *written) fail(options iceberg.Options, condition error, text string) {
	w.t.Helper()
	_, err := iceberg.Open(w.t.Context(), w.root, options)
	require.ErrorIs(w.t, err, condition)
	require.ErrorContains(w.t, err, text)
	var known *iceberg.Error
	require.ErrorAs(w.t, err, &known)
	require.Equal(w.t, w.root, known.Table)
	require.Equal(w.t, "open", known.Operation)
}
