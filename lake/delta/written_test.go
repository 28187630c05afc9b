package delta_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/delta"
	"github.com/gpuframe/gpuframe/objectstore"
)

// written is a table that a test writes by hand.
type written struct {
	t    *testing.T
	root string
}

func newTable(t *testing.T) written { return written{t, t.TempDir()} }

// parquet writes rows of JSON as a file of the table.
func (w written) parquet(name string, fields []arrow.Field, rows string, options ...pqarrow.WriterOption) {
	schema := arrow.NewSchema(fields, nil)
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	require.NoError(w.t, err)
	defer record.Release()
	path := filepath.Join(w.root, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o777))
	file, err := os.Create(path)
	require.NoError(w.t, err)
	writer, err := pqarrow.NewFileWriter(schema, file, parquet.NewWriterProperties(), pqarrow.NewArrowWriterProperties(options...))
	require.NoError(w.t, err)
	require.NoError(w.t, writer.Write(record))
	require.NoError(w.t, writer.Close())
}

// commit writes a commit.
func (w written) commit(version int, lines ...string) {
	w.file(fmt.Sprintf("_delta_log/%020d.json", version), strings.Join(lines, "\n")+"\n")
}

func (w written) file(name, text string) {
	path := filepath.Join(w.root, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o666))
}

func (w written) open(options delta.Options) *delta.Table {
	w.t.Helper()
	table, err := delta.Open(w.t.Context(), w.root, options)
	require.NoError(w.t, err)
	return table
}

// fail requires an error of a condition.
func (w written) fail(options delta.Options, condition error, text string) {
	w.t.Helper()
	_, err := delta.Open(w.t.Context(), w.root, options)
	require.ErrorIs(w.t, err, condition)
	require.ErrorContains(w.t, err, text)
	var known *delta.Error
	require.ErrorAs(w.t, err, &known)
	require.Equal(w.t, w.root, known.Table)
}

const protocol1 = `{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}`

func protocol3(features ...string) string {
	text, _ := json.Marshal(features)
	return fmt.Sprintf(`{"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": %s, "writerFeatures": %[1]s}}`, text)
}

// metadata is the action of a schema, given by lines "name type", partition columns and properties.
func metadata(columns string, partitions []string, properties map[string]string) string {
	var fields []map[string]any
	for line := range strings.Lines(columns) {
		if name, t, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			field := map[string]any{"name": name, "nullable": true, "metadata": map[string]any{}}
			t, about, mapped := strings.Cut(t, " ")
			field["type"] = t
			if mapped {
				id, physical, _ := strings.Cut(about, " ")
				field["metadata"] = map[string]any{"delta.columnMapping.id": json.Number(id), "delta.columnMapping.physicalName": physical}
			}
			fields = append(fields, field)
		}
	}
	schema, _ := json.Marshal(map[string]any{"type": "struct", "fields": fields})
	text, _ := json.Marshal(map[string]any{"metaData": map[string]any{
		"id": "1", "format": map[string]any{"provider": "parquet"}, "schemaString": string(schema), "partitionColumns": partitions, "configuration": properties,
	}})
	return string(text)
}

// add is the action of a file, with further members.
func add(path string, more string) string {
	return fmt.Sprintf(`{"add": {"path": %q, "size": 1, "modificationTime": 1, "dataChange": true%s}}`, path, more)
}

func remove(path string) string {
	return fmt.Sprintf(`{"remove": {"path": %q, "dataChange": true}}`, path)
}

func long(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64, Nullable: true}
}

func withID(field arrow.Field, id int) arrow.Field {
	field.Metadata = arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{fmt.Sprint(id)})
	return field
}

// withoutLists is a store that does not list.
type withoutLists struct{ objectstore.Store }

func (withoutLists) List(context.Context, string, string) ([]objectstore.Object, string, error) {
	return nil, "", errors.ErrUnsupported
}
