package sink_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// addIDs adds the IDs of nodes with an ID, by their paths.
func addIDs(ids map[string]int32, path string, n schema.Node) {
	if n.FieldID() >= 0 {
		ids[path] = n.FieldID()
	}
	if group, ok := n.(*schema.GroupNode); ok {
		for i := range group.NumFields() {
			addIDs(ids, strings.TrimPrefix(path+"."+group.Field(i).Name(), "."), group.Field(i))
		}
	}
}

// fieldIDs returns the IDs in the footer of a file as arrow-go reads it.
func fieldIDs(t testing.TB, data []byte) map[string]int32 {
	reader, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	ids := map[string]int32{}
	addIDs(ids, "", reader.MetaData().Schema.Root())
	return ids
}

// Footers of the host's and the devices' encoders have the IDs of columns.
func TestFieldIDs(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		defer sink.SetLeastDeviceRows(1)()
		record := mixedRecord(t, 100)
		var ids []sink.FieldID
		want := map[string]int32{}
		for i, field := range record.Schema().Fields() {
			id := int32(10 * i) // the first column has none
			ids = append(ids, sink.FieldID{ID: id})
			if id > 0 {
				want[field.Name] = id
			}
		}
		data := written(t, m, record, sink.ParquetOptions{FieldIDs: ids}, 1<<20)
		require.Equal(t, want, fieldIDs(t, data))
		plain := written(t, m, record, sink.ParquetOptions{}, 1<<20)
		require.Empty(t, fieldIDs(t, plain))
		require.True(t, array.RecordEqual(readByArrow(t, plain), readByArrow(t, data)))
	})
}

func nestedRecord(t testing.TB) arrow.Record {
	inner := arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String})
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "s", Type: inner, Nullable: true},
		{Name: "l", Type: arrow.ListOf(inner), Nullable: true},
		{Name: "m", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.ListOf(arrow.PrimitiveTypes.Int32)), Nullable: true},
	}, nil)
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, s, strings.NewReader(`[
		{"id": 1, "s": {"a": 1, "b": "x"}, "l": [{"a": null, "b": "y"}], "m": [{"key": "k", "value": [1, null]}]},
		{"id": 2, "s": null, "l": null, "m": null}, {"id": 3, "s": {"a": null, "b": ""}, "l": [], "m": []}]`))
	require.NoError(t, err)
	return record
}

// nestedIDs are IDs of the columns of nestedRecord.
func nestedIDs() []sink.FieldID {
	return []sink.FieldID{
		{ID: 1},
		{ID: 2, Members: []sink.FieldID{{ID: 5}, {ID: 6}}},
		{ID: 3, Members: []sink.FieldID{{ID: 7, Members: []sink.FieldID{{ID: 8}, {ID: 9}}}}},
		{ID: 4, Members: []sink.FieldID{{ID: 10}, {ID: 11, Members: []sink.FieldID{{ID: 12}}}}},
	}
}

// Parts of lists, structs and maps have IDs, and the rows are those that were written.
func TestFieldIDsOfNestedColumns(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	record := nestedRecord(t)
	data := written(t, m, record, sink.ParquetOptions{FieldIDs: nestedIDs()}, 2)
	require.Equal(t, map[string]int32{
		"id": 1, "s": 2, "s.a": 5, "s.b": 6, "l": 3, "l.list.element": 7, "l.list.element.a": 8, "l.list.element.b": 9,
		"m": 4, "m.key_value.key": 10, "m.key_value.value": 11, "m.key_value.value.list.element": 12,
	}, fieldIDs(t, data))
	s, err := source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	read := whole(t, m, s)
	for i, name := range []string{"id", "s", "l", "m"} {
		sameValues(t, record.Column(i), read.Column(i), name)
	}
}

// IDs that do not fit the columns are refused before anything is written.
func TestFieldIDsThatDoNotFit(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	record := nestedRecord(t)
	for text, change := range map[string]func(ids []sink.FieldID) []sink.FieldID{
		"3 field IDs for 4 columns of the table": func(ids []sink.FieldID) []sink.FieldID { return ids[:3] },
		`1 field IDs for 2 columns of column "s"`: func(ids []sink.FieldID) []sink.FieldID {
			ids[1].Members = ids[1].Members[:1]
			return ids
		},
		`the field ID 1 of column "value" is negative or given twice`: func(ids []sink.FieldID) []sink.FieldID {
			ids[3].Members[1].ID = 1
			return ids
		},
		`the field ID -1 of column "id"`: func(ids []sink.FieldID) []sink.FieldID {
			ids[0].ID = -1
			return ids
		},
		`parts of column "id" of int64`: func(ids []sink.FieldID) []sink.FieldID {
			ids[0].Members = []sink.FieldID{{ID: 20}}
			return ids
		},
	} {
		reader := readerOf(t, m, record.Schema(), []arrow.Record{record}, 10)
		var to bytes.Buffer
		_, err := sink.ToWriter(context.Background(), &to, sink.Parquet(sink.ParquetOptions{FieldIDs: change(nestedIDs())}), reader)
		require.ErrorIs(t, err, sink.ErrArgument)
		require.ErrorContains(t, err, text)
		require.Zero(t, to.Len())
		require.NoError(t, reader.Close())
	}
}

// Only columns of 16 bytes are marked as those of UUIDs.
func TestMarksOfUUIDs(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: &arrow.FixedSizeBinaryType{ByteWidth: 15}}}, nil)
	record, _, err := array.RecordFromJSON(arrowmemory.DefaultAllocator, schema, strings.NewReader(`[]`))
	require.NoError(t, err)
	defer record.Release()
	_, err = toFolder(t, t.TempDir(), record, sink.Parquet(sink.ParquetOptions{FieldIDs: []sink.FieldID{{ID: 1, UUID: true}}}), sink.FolderOptions{})
	require.ErrorIs(t, err, sink.ErrArgument)
	require.ErrorContains(t, err, "expected 16 bytes")
}
