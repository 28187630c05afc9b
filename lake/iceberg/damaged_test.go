package iceberg_test

import (
	"os"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// change writes the metadata with members changed: nil removes one.
func (w *written) change(members object) {
	about := w.about
	defer func() { w.about = about }()
	w.about = merged(object{}, about)
	for name, value := range members {
		if w.about[name] = value; value == nil {
			delete(w.about, name)
		}
	}
	w.write()
}

func TestDamagedMetadata(t *testing.T) {
	w := history(t)
	field := func(more object) object {
		return object{"current-schema-id": 1, "schemas": []object{{"schema-id": 1, "fields": []object{merged(object{"id": 1, "name": "n", "type": "long"}, more)}}}}
	}
	for text, members := range map[string]object{
		"it has no location":                          {"location": nil},
		"its current schema is absent":                {"current-schema-id": 7},
		"a snapshot is null":                          {"snapshots": []any{nil}},
		"cannot unmarshal":                            {"snapshots": 7},
		`the name "" is empty or there twice`:         field(object{"name": ""}),
		"the field ID 0 is not positive":              field(object{"id": 0}),
		"the field ID 3000000000 is not positive":     field(object{"id": int64(3000000000)}),
		"expected decimal(p,s) of up to 38":           field(object{"type": "decimal(39,2)"}),
		"a type is no text and no object":             field(object{"type": 7}),
		"the field ID 1 is not positive or there twi": field(object{"type": object{"type": "list", "element-id": 1, "element": "int"}}),
	} {
		w.change(members)
		w.fail(iceberg.Options{}, iceberg.ErrMetadata, text)
	}
	for text, members := range map[string]object{
		"the format version 4":           {"format-version": 4},
		`column "n": the type "variant"`: field(object{"type": "variant"}),
		`the type "fixed[0]"`:            field(object{"type": "fixed[0]"}),
		`the type "decimal"`:             field(object{"type": "decimal"}),
		`the type "set"`:                 field(object{"type": object{"type": "set"}}),
	} {
		w.change(members)
		w.fail(iceberg.Options{}, iceberg.ErrUnsupported, text)
	}
	var deep any = "int"
	for i := range 70 {
		deep = object{"type": "list", "element-id": 100 + i, "element": deep}
	}
	w.change(field(object{"type": deep}))
	w.fail(iceberg.Options{}, iceberg.ErrLimit, "types are within each other more than 64 times")
	w.file("metadata/v1000.metadata.json", []byte("{"))
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, "v1000.metadata.json: unexpected end of JSON input")
	w.file("metadata/v1001.metadata.json", []byte{0x1f, 0x8b, 0})
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, "v1001.metadata.json")
}

// Tables of version 1 have one schema, a list of fields for their partitions, and may have manifests without a list.
func TestFormatVersion1(t *testing.T) {
	w, engine := newTable(t, "1 n long\n2 p int"), openEngine(t)
	w.spec(1, `1000 p identity 2 "int"`)
	w.parquet("a.parquet", []arrow.Field{long(1, "n")}, `[{"n": 1}]`)
	w.commit(w.data("a.parquet", 1, object{"spec": 1, "partition": object{"p": 7}}))
	schema := w.about["schemas"].([]object)[0]
	delete(w.snapshots[0], "manifest-list")
	w.snapshots[0]["manifests"] = []any{w.manifests[0]["manifest_path"]}
	w.change(object{"format-version": 1, "schema": schema, "schemas": nil, "current-schema-id": nil, "partition-specs": nil,
		"partition-spec": []object{{"name": "p", "transform": "identity", "source-id": 2}}})
	require.Equal(t, []string{`{"n":1,"p":7}`}, rowsOf(t, w.open(iceberg.Options{}).Query(engine)))
}

func TestDamagedManifests(t *testing.T) {
	fail := func(condition error, text string, entries ...object) {
		t.Helper()
		w := newTable(t, "1 n long")
		w.commit(entries...)
		w.fail(iceberg.Options{}, condition, text)
	}
	w := newTable(t, "1 n long")
	entry := func(more object) object { return w.data("a.parquet", 1, more) }
	fail(iceberg.ErrMetadata, "has no path", entry(object{"file_path": ""}))
	fail(iceberg.ErrMetadata, "-5 rows", entry(object{"record_count": -5}))
	fail(iceberg.ErrMetadata, "the status 3", entry(object{"status": 3}))
	fail(iceberg.ErrMetadata, "has the content 3", entry(object{"content": 3}))
	fail(iceberg.ErrMetadata, "has no sequence number", entry(object{"status": 0}))
	fail(iceberg.ErrLimit, "the limit is 1099511627776", entry(object{"record_count": int64(1)<<40 + 1}))
	fail(iceberg.ErrUnsupported, `a.parquet: its format is "ORC"`, entry(object{"file_format": "ORC"}))
	fail(iceberg.ErrUnsupported, `its format is "avro"`, entry(object{"file_format": "avro"}))
	fail(iceberg.ErrUnsupported, "a.parquet: it is encrypted", entry(object{"key_metadata": []byte{1}}))

	w.commit(entry(object{"status": 2}))
	require.Empty(t, w.open(iceberg.Options{}).Files())
	w.manifests[0]["content"] = 1
	w.commit(entry(nil))
	require.Len(t, w.open(iceberg.Options{}).Files(), 1)
	w.manifests[1]["content"] = 1
	w.snapshot()
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, "in a manifest of content 1")
	w.manifests[1]["content"], w.manifests[1]["key_metadata"] = 0, []byte{1}
	w.snapshot()
	w.fail(iceberg.Options{}, iceberg.ErrUnsupported, "the manifest is encrypted")
	w.manifests[1]["manifest_path"] = ""
	w.snapshot()
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, "manifest 1 has no path")
	w.manifests[1] = w.manifests[0]
	w.snapshot()
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, "is named twice")
	w.manifests = w.manifests[:1]
	w.commit(entry(nil))
	name := w.manifests[1]["manifest_path"].(string)
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	for _, length := range []int{0, 3, 100, len(data) / 2, len(data) - 1} {
		require.NoError(t, os.WriteFile(name, data[:length], 0o666))
		w.fail(iceberg.Options{}, iceberg.ErrMetadata, name)
	}
	require.NoError(t, os.Remove(name))
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, name)
}
