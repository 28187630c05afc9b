package delta_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/lake/delta"
	"github.com/gpuframe/gpuframe/objectstore"
)

// versions has the files a, b and c of one row each: version 0 has a, 1 has a and b, 2 has b, 3 has b and c with a new column.
func versions(t *testing.T) written {
	w := newTable(t)
	for i, name := range []string{"a", "b"} {
		w.parquet(name+".parquet", []arrow.Field{long("n")}, fmt.Sprintf(`[{"n": %d}]`, i+1))
	}
	w.parquet("c d.parquet", []arrow.Field{long("m"), long("n")}, `[{"n": 3, "m": 30}]`)
	w.commit(0, protocol1, metadata("n long", nil, nil), add("a.parquet", ""))
	w.commit(1, add("b.parquet", `, "stats": "{\"numRecords\": 1}"`))
	w.commit(2, remove("a.parquet"))
	w.commit(3, metadata("n long\nm long", nil, nil), `{"txn": {"appId": "x", "version": 1}}`, add("c%20d.parquet", ""))
	return w
}

func TestVersions(t *testing.T) {
	w, engine := versions(t), openEngine(t)
	for version, want := range [][]string{{`{"n":1}`}, {`{"n":1}`, `{"n":2}`}, {`{"n":2}`}, {`{"m":30,"n":3}`, `{"m":null,"n":2}`}} {
		table := w.open(delta.Options{Version: new(int64(version))})
		require.EqualValues(t, version, table.Version())
		require.Equal(t, want, rowsOf(t, table.Query(engine)))
	}
	table := w.open(delta.Options{})
	require.EqualValues(t, 3, table.Version())
	require.Equal(t, []string{"n", "m"}, []string{table.Schema().Field(0).Name, table.Schema().Field(1).Name})
	files := table.Files()
	require.Len(t, files, 2)
	require.Equal(t, filepath.Join(w.root, "b.parquet"), files[0].Path)
	require.EqualValues(t, 1, files[0].Rows)
	require.EqualValues(t, -1, files[1].Rows)
	w.fail(delta.Options{Version: new(int64(4))}, delta.ErrVersion, "the newest one is 3")
	w.fail(delta.Options{Version: new(int64(-1))}, delta.ErrVersion, "version -1")
	w.fail(delta.Options{Version: new(int64(1)), Timestamp: time.Now()}, delta.ErrVersion, "expected one of them")
}

// The time of a version is that of its file, or one in the commit if the table has these.
func TestTimestamps(t *testing.T) {
	w := versions(t)
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for version, days := range []int{0, 1, 1, 3} { // version 2 is a millisecond younger than 1
		path := filepath.Join(w.root, fmt.Sprintf("_delta_log/%020d.json", version))
		require.NoError(t, os.Chtimes(path, day.AddDate(0, 0, days), day.AddDate(0, 0, days)))
	}
	at := func(when time.Time) int64 { return w.open(delta.Options{Timestamp: when}).Version() }
	require.EqualValues(t, 0, at(day))
	require.EqualValues(t, 0, at(day.Add(23*time.Hour)))
	require.EqualValues(t, 1, at(day.AddDate(0, 0, 1)))
	require.EqualValues(t, 2, at(day.AddDate(0, 0, 2)))
	require.EqualValues(t, 3, at(day.AddDate(1, 0, 0)))
	w.fail(delta.Options{Timestamp: day.Add(-time.Second)}, delta.ErrVersion, "no version is as old as 2026-10-31T23:59:59Z")

	w.commit(4, fmt.Sprintf(`{"commitInfo": {"inCommitTimestamp": %d}}`, day.AddDate(0, 0, 10).UnixMilli()),
		metadata("n long", nil, map[string]string{"delta.enableInCommitTimestamps": "true", "delta.inCommitTimestampEnablementVersion": "4"}))
	w.commit(5, fmt.Sprintf(`{"commitInfo": {"inCommitTimestamp": %d}}`, day.AddDate(0, 0, 20).UnixMilli()))
	require.EqualValues(t, 3, at(day.AddDate(0, 0, 9)))
	require.EqualValues(t, 4, at(day.AddDate(0, 0, 19)))
	require.EqualValues(t, 5, at(day.AddDate(0, 0, 20)))

	// Files may be younger than the times of later commits.
	copied := filepath.Join(w.root, "_delta_log/00000000000000000003.json")
	require.NoError(t, os.Chtimes(copied, day.AddDate(0, 0, 15), day.AddDate(0, 0, 15)))
	require.EqualValues(t, 4, at(day.AddDate(0, 0, 10)))
	w.commit(6, fmt.Sprintf(`{"commitInfo": {"inCommitTimestamp": %d}}`, day.AddDate(0, 0, 30).UnixMilli()), metadata("n long", nil, map[string]string{
		"delta.enableInCommitTimestamps": "true", "delta.inCommitTimestampEnablementVersion": "4",
		"delta.inCommitTimestampEnablementTimestamp": fmt.Sprint(day.AddDate(0, 0, 10).UnixMilli()),
	}))
	require.EqualValues(t, 2, at(day.AddDate(0, 0, 10).Add(-1)))
	require.EqualValues(t, 4, at(day.AddDate(0, 0, 10)))
	require.EqualValues(t, 6, at(day.AddDate(1, 0, 0)))
	w.commit(5, `{"commitInfo": {}}`)
	w.fail(delta.Options{Timestamp: day.AddDate(1, 0, 0)}, delta.ErrLog, "00005.json: it has no inCommitTimestamp")
}

func TestPartitionValues(t *testing.T) {
	w, engine := newTable(t), openEngine(t)
	w.parquet("a.parquet", []arrow.Field{long("n")}, `[{"n": 1}]`)
	w.parquet("b.parquet", []arrow.Field{long("n")}, `[{"n": 2}]`)
	w.commit(0, protocol1, metadata("n long\ns string\ni integer\nb boolean\nf float\nd date\nt timestamp\nu timestamp_ntz\nx decimal(5,2)\ny binary", []string{"s", "i", "b", "f", "d", "t", "u", "x", "y"}, nil),
		add("a.parquet", `, "partitionValues": {"s": "é", "i": "-7", "b": "true", "f": "1.5", "d": "2024-02-29", "t": "2024-01-01T01:00:00.5+01:00", "u": "2024-01-01 00:00:00.123456", "x": "3.1", "y": "\u0001z"}`),
		add("b.parquet", `, "partitionValues": {"s": "", "i": null, "b": "", "f": null, "d": "", "t": "", "u": null, "y": ""}`))
	q := w.open(delta.Options{}).Query(engine)
	require.Equal(t, []string{
		`{"b":null,"d":null,"f":null,"i":null,"n":2,"s":null,"t":null,"u":null,"x":null,"y":null}`,
		`{"b":true,"d":"2024-02-29","f":1.5,"i":-7,"n":1,"s":"é","t":"2024-01-01 00:00:00.5Z","u":"2024-01-01 00:00:00.123456Z","x":"3.1","y":"AXo="}`,
	}, rowsOf(t, q))
	require.Equal(t, []string{`{"n":1}`}, rowsOf(t, q.Filter(gpuframe.Col("i").Lt(0)).Select(gpuframe.Col("n"))))

	w.commit(1, add("a.parquet", `, "partitionValues": {"i": "3000000000"}`))
	w.fail(delta.Options{}, delta.ErrLog, `the partition value "3000000000" is no int32`)
	w.commit(1, add("a.parquet", `, "partitionValues": {"x": "1.234"}`))
	w.fail(delta.Options{}, delta.ErrLog, `column "x": the partition value "1.234" is no decimal`)
	w.commit(1, metadata("n long", []string{"absent"}, nil))
	w.fail(delta.Options{}, delta.ErrLog, `the partition column "absent" is not in the schema`)
}

// Files that partition values or statistics exclude are not opened: they do not exist.
func TestFilesAreLeftOut(t *testing.T) {
	w, engine := newTable(t), openEngine(t)
	columns := []arrow.Field{long("n"), {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}
	w.parquet("a.parquet", columns, `[{"n": 5, "s": "m"}]`)
	statistics := func(stats string) string {
		return `, "partitionValues": {"p": "1"}, "stats": ` + fmt.Sprintf("%q", stats)
	}
	w.commit(0, protocol1, metadata("n long\ns string\nx float\nt timestamp\nd decimal(10,2)\np integer", []string{"p"}, nil),
		add("a.parquet", `, "partitionValues": {"p": "2"}, "stats": "{\"numRecords\": 1, \"minValues\": {\"n\": 5, \"s\": \"m\"}, \"maxValues\": {\"n\": 5, \"s\": \"m\"}, \"nullCount\": {\"n\": 0, \"s\": 0, \"x\": 1, \"t\": 1, \"d\": 1}}"`),
		add("absent.parquet", statistics(`{"numRecords": 10, "minValues": {"n": 100, "s": "x", "x": 0.1, "t": "2026-01-01T00:00:00.000Z", "d": 1.25}, "maxValues": {"n": 200, "s": "z", "x": 0.2, "t": "2026-01-01T00:00:00.001Z", "d": 7}, "nullCount": {"n": 0, "s": 3, "t": 10}}`)))
	q := w.open(delta.Options{}).Query(engine)
	n, s, x, at, d := gpuframe.Col("n"), gpuframe.Col("s"), gpuframe.Col("x"), gpuframe.Col("t"), gpuframe.Col("d")
	millisecond := time.Date(2026, 1, 1, 0, 0, 0, 1e6, time.UTC)
	for _, condition := range []gpuframe.Expr{
		gpuframe.Col("p").Eq(2), n.Lt(100), n.Gt(200), n.IsNull(), s.Lt("x"), s.Eq("m"), x.Gt(float32(0.2)).And(x.IsNaN().Not()), at.IsValid(),
		at.Gt(gpuframe.Lit(millisecond.Add(999 * time.Microsecond))), d.Lt(1.25), d.Gt(7),
	} {
		_, err := linesOf(t.Context(), q.Filter(condition))
		require.NoError(t, err, "%v", condition)
	}
	for _, condition := range []gpuframe.Expr{
		gpuframe.Col("p").Eq(1), n.Eq(150), s.IsNull(), x.Ge(float32(0.1)), x.Eq(float32(0.2)), at.IsNull(), d.Eq(7),
	} {
		_, err := linesOf(t.Context(), q.Filter(condition))
		require.ErrorIs(t, err, fs.ErrNotExist, "%v", condition)
	}
}

// With wide bounds, a number of nulls between none and all rows means nothing.
func TestWideBounds(t *testing.T) {
	w, engine := newTable(t), openEngine(t)
	stats := func(nulls int, tight bool) string {
		return fmt.Sprintf(`, "stats": %q`, fmt.Sprintf(`{"numRecords": 3, "tightBounds": %v, "nullCount": {"n": %d}}`, tight, nulls))
	}
	excluded := func(nulls int, tight bool, condition gpuframe.Expr) bool {
		w.commit(0, protocol1, metadata("n long", nil, nil), add("absent.parquet", stats(nulls, tight)))
		_, err := linesOf(t.Context(), w.open(delta.Options{}).Query(engine).Filter(condition))
		return !errors.Is(err, fs.ErrNotExist)
	}
	n := gpuframe.Col("n")
	for _, tight := range []bool{true, false} {
		require.True(t, excluded(3, tight, n.IsValid()))
		require.True(t, excluded(0, tight, n.IsNull()))
		require.False(t, excluded(1, tight, n.IsNull()))
		require.False(t, excluded(1, tight, n.IsValid()))
	}
	for _, text := range []string{`{"numRecords": 3, "nullCount": {"n": null}}`, `{"numRecords": null, "nullCount": {"n": 0}}`} {
		w.commit(0, protocol1, metadata("n long", nil, nil), add("absent.parquet", fmt.Sprintf(`, "stats": %q`, text)))
		_, err := linesOf(t.Context(), w.open(delta.Options{}).Query(engine).Filter(n.IsNull()))
		require.ErrorIs(t, err, fs.ErrNotExist, "%s: an unknown number leaves out nothing", text)
	}
}

func TestColumnMapping(t *testing.T) {
	engine := openEngine(t)
	for _, mode := range []string{"name", "id"} {
		t.Run(mode, func(t *testing.T) {
			w := newTable(t)
			// The physical name of one column is the name of the other one, and IDs and names disagree.
			w.parquet("a.parquet", []arrow.Field{withID(long("col-1"), 1), withID(long("n"), 2)}, `[{"col-1": 1, "n": 2}]`)
			w.parquet("plain.parquet", []arrow.Field{long("col-1"), long("n")}, `[{"col-1": 10, "n": 20}]`)
			w.commit(0, protocol3("columnMapping", "deletionVectors"), metadata("n long 1 col-1\nm long 2 n\np string 3 col-3", []string{"p"}, map[string]string{"delta.columnMapping.mode": mode}),
				add("a.parquet", `, "partitionValues": {"col-3": "x"}, "stats": "{\"numRecords\": 1, \"minValues\": {\"col-1\": 1, \"n\": 2}, \"maxValues\": {\"col-1\": 1, \"n\": 2}}"`),
				add("plain.parquet", `, "partitionValues": {"col-3": "y"}, "stats": "{\"numRecords\": 1}"`))
			q := w.open(delta.Options{}).Query(engine)
			want := []string{`{"m":2,"n":1,"p":"x"}`, `{"m":20,"n":10,"p":"y"}`}
			if mode == "id" {
				want[1] = `{"m":null,"n":null,"p":"y"}` // the file has no IDs
			}
			require.ElementsMatch(t, want, rowsOf(t, q))
			require.Equal(t, want[:1], rowsOf(t, q.Filter(gpuframe.Col("n").Eq(1), gpuframe.Col("m").Eq(2))))
		})
	}
	w := newTable(t)
	w.commit(0, protocol3("columnMapping"), metadata("n long", nil, map[string]string{"delta.columnMapping.mode": "id"}))
	w.fail(delta.Options{}, delta.ErrLog, `column "n" has no delta.columnMapping.physicalName`)
	w.commit(0, protocol3("columnMapping"), metadata("n long", nil, map[string]string{"delta.columnMapping.mode": "x"}))
	w.fail(delta.Options{}, delta.ErrUnsupported, `delta.columnMapping.mode is "x"`)
}

func TestDamagedLogs(t *testing.T) {
	w := newTable(t)
	w.fail(delta.Options{}, fs.ErrNotExist, "read its log")
	w.file("_delta_log/readme.txt", "no commit")
	w.fail(delta.Options{}, fs.ErrNotExist, "has no commits")
	w.commit(0, protocol1)
	w.fail(delta.Options{}, delta.ErrLog, "no action metaData")
	for text, message := range map[string]string{
		`{"add": {"path": ""}}`:               "line 3: the action add has no path",
		`{"remove": {}}`:                      "line 3: the action remove has no path",
		`{"add": `:                            "line 3: unexpected end",
		`{"add": {"path": 7}}`:                "line 3: json: cannot unmarshal",
		`{"add": {"path": "%zz"}}`:            `the path "%zz" is no URI`,
		metadata("n long\nn long", nil, nil):  `the name "n" is empty or there twice`,
		metadata("n decimal(40,2)", nil, nil): "expected decimal(p,s)",
	} {
		w.commit(0, protocol1, metadata("n long", nil, nil), text)
		w.fail(delta.Options{}, delta.ErrLog, message)
	}
	w.commit(0, protocol1, metadata("n variant", nil, nil))
	w.fail(delta.Options{}, delta.ErrUnsupported, `column "n": the type "variant"`)
	w.commit(0, protocol3("columnMapping", "variantType", "catalogManaged"), metadata("n long", nil, nil))
	w.fail(delta.Options{}, delta.ErrUnsupported, "the features catalogManaged, variantType")
	w.commit(0, `{"protocol": {"minReaderVersion": 4}}`, metadata("n long", nil, nil))
	w.fail(delta.Options{}, delta.ErrUnsupported, "readers of version 4")
	w.commit(0, protocol1, metadata("n long", nil, nil))
	w.commit(2, remove("x"))
	w.fail(delta.Options{}, delta.ErrLog, "version 2: the commit of version 1 is absent")
	require.EqualValues(t, 0, w.open(delta.Options{Version: new(int64(0))}).Version())
	require.NoError(t, os.Remove(filepath.Join(w.root, "_delta_log/00000000000000000000.json")))
	w.fail(delta.Options{}, delta.ErrVersion, "the log begins behind version 0")
}

// A table in a store is read by its URL, with a list of the log or without one.
func TestStores(t *testing.T) {
	w, engine := versions(t), openEngine(t)
	memory := &objecttest.Memory{}
	require.NoError(t, filepath.WalkDir(w.root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		contents, err := os.ReadFile(name)
		memory.Set("mem://bucket/table"+name[len(w.root):], contents)
		return err
	}))
	want := []string{`{"m":30,"n":3}`, `{"m":null,"n":2}`}
	for name, store := range map[string]objectstore.Store{"lists": memory, "does not list": withoutLists{memory}} {
		t.Run(name, func(t *testing.T) {
			table, err := delta.Open(t.Context(), "mem://bucket/table/", delta.Options{Store: store})
			require.NoError(t, err)
			require.Equal(t, want, rowsOf(t, table.Query(engine)))
			_, err = delta.Open(t.Context(), "mem://bucket/other", delta.Options{Store: store})
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
	system := os.DirFS(filepath.Dir(w.root))
	table, err := delta.Open(t.Context(), "/"+filepath.Base(w.root), delta.Options{System: system})
	require.NoError(t, err)
	require.Equal(t, want, rowsOf(t, table.Query(engine)))
	for _, root := range []string{".", "", "/"} {
		table, err := delta.Open(t.Context(), root, delta.Options{System: os.DirFS(w.root)})
		require.NoError(t, err, root)
		require.Equal(t, want, rowsOf(t, table.Query(engine)))
	}
	_, err = delta.Open(t.Context(), "mem://user:secret@bucket/table", delta.Options{Store: &objecttest.Memory{}})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotContains(t, err.Error(), "secret")
	_, err = delta.Open(t.Context(), "s3://bucket/table", delta.Options{})
	require.ErrorIs(t, err, objectstore.ErrScheme)
}
