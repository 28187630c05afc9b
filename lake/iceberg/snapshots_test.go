package iceberg_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// history has snapshots 10, 20 and 30 of one row more each. The third one has a new name of the column and another column.
func history(t testing.TB) *written {
	w := newTable(t, "1 n long")
	for i, name := range []string{"a", "b"} {
		w.parquet(name+".parquet", []arrow.Field{long(1, "n")}, fmt.Sprintf(`[{"n": %d}]`, i+1))
		w.commit(w.data(name+".parquet", 1, nil))
	}
	w.schema(1, "1 m long\n2 s string")
	w.parquet("c.parquet", []arrow.Field{text(2, "s"), long(1, "m")}, `[{"m": 3, "s": "x"}]`)
	w.commit(w.data("c.parquet", 1, nil))
	return w
}

func TestSnapshots(t *testing.T) {
	w, engine := history(t), openEngine(t)
	w.about["refs"] = object{"main": object{"snapshot-id": 30, "type": "branch"}, "audit": object{"snapshot-id": 20, "type": "branch"}, "first": object{"snapshot-id": 10, "type": "tag"}}
	w.about["snapshot-log"] = []object{{"timestamp-ms": 1000, "snapshot-id": 10}, {"timestamp-ms": 2000, "snapshot-id": 20}, {"timestamp-ms": 2500, "snapshot-id": 10}, {"timestamp-ms": 3000, "snapshot-id": 30}}
	w.write()
	first, second := []string{`{"n":1}`}, []string{`{"n":1}`, `{"n":2}`}
	current := []string{`{"m":1,"s":null}`, `{"m":2,"s":null}`, `{"m":3,"s":"x"}`}
	for name, each := range map[string]struct {
		options iceberg.Options
		id      int64
		want    []string
	}{
		"current": {iceberg.Options{}, 30, current}, "first": {iceberg.Options{Snapshot: new(int64(10))}, 10, first}, "second": {iceberg.Options{Snapshot: new(int64(20))}, 20, second},
		"main": {iceberg.Options{Ref: "main"}, 30, current}, "tag": {iceberg.Options{Ref: "first"}, 10, first}, "branch": {iceberg.Options{Ref: "audit"}, 20, current[:2]},
		"at a time": {iceberg.Options{Timestamp: time.UnixMilli(2000)}, 20, second}, "after a rollback": {iceberg.Options{Timestamp: time.UnixMilli(2999)}, 10, first},
		"later": {iceberg.Options{Timestamp: time.Now()}, 30, current},
	} {
		t.Run(name, func(t *testing.T) {
			table := w.open(each.options)
			s, ok := table.Snapshot()
			require.True(t, ok)
			require.Equal(t, each.id, s.ID)
			require.Equal(t, each.want, rowsOf(t, table.Query(engine)))
		})
	}
	table := w.open(iceberg.Options{})
	list := table.Snapshots()
	require.Len(t, list, 3)
	require.Nil(t, list[0].Parent)
	require.Equal(t, iceberg.Snapshot{ID: 20, Parent: new(int64(10)), Sequence: 2, Time: time.UnixMilli(2000).UTC(), Operation: "append", Summary: map[string]string{"operation": "append"}}, list[1])
	require.Equal(t, []iceberg.Ref{{Name: "audit", Snapshot: 20, Branch: true}, {Name: "first", Snapshot: 10}, {Name: "main", Snapshot: 30, Branch: true}}, table.Refs())
	schema, err := table.SchemaOf(10)
	require.NoError(t, err)
	require.Equal(t, "n", schema.Field(0).Name)
	require.Equal(t, 2, table.Schema().NumFields())
	_, err = table.SchemaOf(11)
	require.ErrorIs(t, err, iceberg.ErrSnapshot)

	w.fail(iceberg.Options{Snapshot: new(int64(11))}, iceberg.ErrSnapshot, "snapshot 11")
	w.fail(iceberg.Options{Ref: "absent"}, iceberg.ErrSnapshot, `no branch or tag "absent"`)
	w.fail(iceberg.Options{Timestamp: time.UnixMilli(999)}, iceberg.ErrSnapshot, "none is as old as")
	w.fail(iceberg.Options{Ref: "main", Snapshot: new(int64(10))}, iceberg.ErrSnapshot, "expected one")

	// Without a log, the current snapshot and those before it count.
	delete(w.about, "snapshot-log")
	w.about["refs"] = object{"x": object{"snapshot-id": 99, "type": "tag"}}
	w.write()
	s, _ := w.open(iceberg.Options{Timestamp: time.UnixMilli(2999)}).Snapshot()
	require.EqualValues(t, 20, s.ID)
	s, _ = w.open(iceberg.Options{Ref: "main"}).Snapshot()
	require.EqualValues(t, 30, s.ID)
	w.fail(iceberg.Options{Ref: "x"}, iceberg.ErrMetadata, "the snapshot 99 of \"x\" is absent")
	w.about["snapshot-log"] = []object{{"timestamp-ms": 1000, "snapshot-id": 7}}
	w.write()
	w.fail(iceberg.Options{Timestamp: time.Now()}, iceberg.ErrSnapshot, "snapshot 7, the current one at")
	w.about["current-snapshot-id"] = 99
	w.write()
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, "its current snapshot 99 is absent")
	w.about["current-snapshot-id"] = -1
	w.write()
	empty := w.open(iceberg.Options{})
	_, ok := empty.Snapshot()
	require.False(t, ok)
	require.Empty(t, rowsOf(t, empty.Query(engine)))
	require.Equal(t, 2, empty.Schema().NumFields())
}
