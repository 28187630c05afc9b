package delta_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/delta"
)

// A checkpoint with texts and lists of other lengths of offsets, dictionaries and binary values is that of the same values.
func TestCheckpointTypes(t *testing.T) {
	encoded := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	path, feature := any("a.parquet"), any("deletionVectors")
	for name, checkpoint := range map[string]struct {
		text, list    arrow.DataType
		path, feature any
		failure       string
	}{
		"texts":      {arrow.BinaryTypes.String, arrow.ListOf(arrow.BinaryTypes.String), path, feature, ""},
		"large":      {arrow.BinaryTypes.LargeString, arrow.ListOf(arrow.BinaryTypes.LargeString), path, feature, ""},
		"binary":     {arrow.BinaryTypes.Binary, arrow.ListOf(arrow.BinaryTypes.Binary), []byte("a.parquet"), []byte("deletionVectors"), ""},
		"dictionary": {encoded, arrow.ListOf(arrow.BinaryTypes.String), path, feature, ""},
		"a number":   {arrow.PrimitiveTypes.Int64, arrow.ListOf(arrow.BinaryTypes.String), 7, feature, "column add: the member path is of int64"},
		"numbers":    {arrow.BinaryTypes.String, arrow.ListOf(arrow.PrimitiveTypes.Int64), path, 7, "column protocol: the member readerFeatures is of list"},
		"no list":    {arrow.BinaryTypes.String, arrow.BinaryTypes.String, path, feature, "column protocol: the member readerFeatures is of utf8"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTable(t)
			rows := checkpointRows(checkpoint.path, checkpoint.feature)
			if name == "no list" {
				rows = strings.Replace(rows, `["deletionVectors"]`, `"deletionVectors"`, 1)
			}
			w.parquet("_delta_log/00000000000000000000.checkpoint.parquet", checkpointFields(checkpoint.text, checkpoint.list), rows, pqarrow.WithStoreSchema())
			if checkpoint.failure != "" {
				w.fail(delta.Options{}, delta.ErrLog, checkpoint.failure)
				return
			}
			table := w.open(delta.Options{})
			require.Equal(t, "a.parquet", table.Files()[0].Path[len(w.root)+1:])
			require.Equal(t, "x", table.Files()[0].Partition["p"].String())
		})
	}
}

// checkpointFields are the columns of a checkpoint with texts and lists of types.
func checkpointFields(text, list arrow.DataType) []arrow.Field {
	member := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	return []arrow.Field{
		member("protocol", arrow.StructOf(member("minReaderVersion", arrow.PrimitiveTypes.Int32), member("readerFeatures", list))),
		member("metaData", arrow.StructOf(member("schemaString", arrow.BinaryTypes.String), member("partitionColumns", arrow.ListOf(arrow.BinaryTypes.String)))),
		member("add", arrow.StructOf(member("path", text), member("partitionValues", arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String)))),
	}
}

// checkpointRows are the rows of a checkpoint with one file.
func checkpointRows(path, feature any) string {
	schema := `{"type": "struct", "fields": [{"name": "n", "type": "long"}, {"name": "p", "type": "string"}]}`
	text, _ := json.Marshal([]any{
		map[string]any{"protocol": map[string]any{"minReaderVersion": 3, "readerFeatures": []any{feature}}},
		map[string]any{"metaData": map[string]any{"schemaString": schema, "partitionColumns": []string{"p"}}},
		map[string]any{"add": map[string]any{"path": path, "partitionValues": []any{map[string]any{"key": "p", "value": "x"}}}},
	})
	return string(text)
}
