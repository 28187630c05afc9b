package iceberg_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// A table of another writer, with partitions of an old spec and deleted rows, is appended to and overwritten. Its old snapshots stay.
func TestWritesToTablesOfOthers(t *testing.T) {
	engine := openEngine(t)
	w := newTable(t, "1 id long\n2 s string")
	w.spec(1, `1000 s identity 2 "string"`)
	w.parquet("data/a.parquet", []arrow.Field{long(1, "id"), text(2, "s")}, `[{"id": 1, "s": "a"}, {"id": 2, "s": "a"}]`)
	w.parquet("data/b.parquet", []arrow.Field{long(1, "id"), text(2, "s")}, `[{"id": 3, "s": null}]`)
	inA := object{"spec": 1, "partition": object{"s": "a"}}
	w.commit(w.data("data/a.parquet", 2, inA), w.data("data/b.parquet", 1, object{"spec": 1, "partition": object{"s": nil}}))
	w.commit(w.positions("data/d.parquet", map[string][]int64{"data/a.parquet": {0}}, inA))
	w.about["default-spec-id"], w.about["last-sequence-number"], w.about["last-updated-ms"] = 0, w.sequence, 2
	w.write()
	writer, err := iceberg.OpenWriter(t.Context(), w.root, iceberg.WriteOptions{})
	require.NoError(t, err)
	old, query := rowsOf(t, w.open(iceberg.Options{}).Query(engine)), queryOf(t, engine, numbers(), `[{"id": 9, "s": "z"}]`)
	require.Len(t, old, 2)
	appended, err := writer.Append(t.Context(), query)
	require.NoError(t, err)
	require.Equal(t, sorted(old, rowsOf(t, query)), tableRows(t, engine, w.root, iceberg.Options{}))
	s, err := writer.Overwrite(t.Context(), query)
	require.NoError(t, err)
	require.Equal(t, rowsOf(t, query), tableRows(t, engine, w.root, iceberg.Options{}))
	require.Equal(t, sorted(old, rowsOf(t, query)), tableRows(t, engine, w.root, iceberg.Options{Snapshot: &appended.ID}))
	require.Equal(t, []string{"3", "4", "1"}, []string{s.Summary["deleted-data-files"], s.Summary["deleted-records"], s.Summary["removed-delete-files"]})
	_, err = writer.Append(t.Context(), query)
	require.NoError(t, err)
	require.Equal(t, sorted(rowsOf(t, query), rowsOf(t, query)), tableRows(t, engine, w.root, iceberg.Options{}))
}

// Tables that this package cannot write are refused when they are opened.
func TestTablesThatAreNotWritten(t *testing.T) {
	for message, change := range map[string]func(w *written){
		"format version 1":       func(w *written) { w.about["format-version"] = 1 },
		"is partitioned by cube": func(w *written) { w.spec(1, `1000 s cube 2 "int"`) },
		"has the type uuid": func(w *written) {
			w.schema(1, `1 p {"type": "struct", "fields": [{"id": 2, "name": "x", "required": false, "type": "uuid"}]}`)
		},
		`the required part "x"`: func(w *written) {
			w.schema(1, `1 p {"type": "struct", "fields": [{"id": 2, "name": "x", "required": true, "type": "int"}]}`)
		},
		"required elements": func(w *written) {
			w.schema(1, `1 p {"type": "list", "element-id": 2, "element-required": true, "element": "int"}`)
		},
		"the table was moved":       func(w *written) { w.about["location"] = "/elsewhere" },
		"the metadata are those of": nil,
	} {
		w := newTable(t, "1 id long\n2 s string")
		if change != nil {
			change(w)
			w.write()
		} else {
			w.file("metadata/00001-a.metadata.json", []byte(jsonText(w.about)))
		}
		_, err := iceberg.OpenWriter(t.Context(), w.root, iceberg.WriteOptions{})
		require.ErrorIs(t, err, iceberg.ErrUnsupported)
		require.ErrorContains(t, err, message)
	}
}
