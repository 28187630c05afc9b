package iceberg_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// Columns are found by their IDs: they were renamed, swapped, moved, widened, dropped and added again. The tables of iceberg-go
// and PyIceberg have such structs and lists: arrow-go v17 writes no IDs of these.
func TestEvolution(t *testing.T) {
	w, engine := newTable(t, "1 n int\n2 x float\n3 d decimal(5,2)\n4 old string\n8 day date"), openEngine(t)
	w.parquet("a.parquet", []arrow.Field{
		field(1, "n", arrow.PrimitiveTypes.Int32), field(2, "x", arrow.PrimitiveTypes.Float32), field(3, "d", &arrow.Decimal128Type{Precision: 5, Scale: 2}), text(4, "old"),
		field(8, "day", arrow.FixedWidthTypes.Date32),
	}, `[{"n": 1, "x": 0.5, "d": "1.25", "old": "gone", "day": "2024-02-29"}]`)
	w.commit(w.data("a.parquet", 1, object{"lower_bounds": bounds(map[int]string{1: "\x01\x00\x00\x00", 2: "\x00\x00\x00\x3f", 3: "\x7d", 8: "\x52\x4d\x00\x00"}),
		"upper_bounds": bounds(map[int]string{1: "\x01\x00\x00\x00", 2: "\x00\x00\x00\x3f", 3: "\x7d", 8: "\x52\x4d\x00\x00"})}))
	w.about["format-version"] = 3
	w.schema(1, `8 day timestamp
2 n double
1 x long
3 d decimal(20,2)
9 old string
13 map {"type": "map", "key-id": 14, "key": "string", "value-id": 15, "value-required": false, "value": "date"}`)
	w.parquet("b.parquet", []arrow.Field{long(1, "x"), field(2, "n", arrow.PrimitiveTypes.Float64), text(9, "old")},
		`[{"x": 6000000000, "n": 2.25, "old": "new"}]`)
	w.commit(w.data("b.parquet", 1, nil))
	q := w.open(iceberg.Options{}).Query(engine)
	require.Equal(t, []string{
		`{"d":"1.25","day":"2024-02-29 00:00:00Z","map":null,"n":0.5,"old":null,"x":1}`,
		`{"d":null,"day":null,"map":null,"n":2.25,"old":"new","x":6000000000}`,
	}, rowsOf(t, q))
	x := gpuframe.Col("x")
	require.Equal(t, []string{`{"x":1}`}, rowsOf(t, q.Filter(x.Eq(1), gpuframe.Col("n").Lt(1)).Select(x)))
	require.Equal(t, []string{`{"x":1}`}, rowsOf(t, q.Filter(gpuframe.Col("day").IsValid()).Select(x)))
	require.Equal(t, []string{`{"n":1}`}, rowsOf(t, w.open(iceberg.Options{Snapshot: new(int64(10))}).Query(engine).Select(gpuframe.Col("n"))))
}

// Added columns have their initial defaults in older files, nulls in newer ones stay.
func TestDefaults(t *testing.T) {
	w, engine := newTable(t, "1 n long"), openEngine(t)
	w.parquet("a.parquet", []arrow.Field{long(1, "n")}, `[{"n": 1}, {"n": 2}]`)
	w.commit(w.data("a.parquet", 2, nil))
	w.about["format-version"] = 3
	w.schema(1, `1 n long
2 b boolean = true
3 i int = -5
4 l long = 9007199254740993
5 f float = 0.5
6 x double = 1e100
7 s string = "é"
8 y binary = "00ff"
9 z fixed[2] = "0a0b"
10 u uuid = "f79c3e09-677c-4bbd-a479-3f349cb785e7"
11 c decimal(9,2) = "14.20"
12 d date = "2017-11-16"
13 h time = "22:31:08.123456"
14 t timestamp = "2017-11-16T22:31:08.123456"
15 tz timestamptz = "2017-11-16T22:31:08.123456+01:00"
16 tn timestamp_ns = "2017-11-16T22:31:08.123456789"
17 none string = null`)
	w.parquet("b.parquet", []arrow.Field{long(1, "n"), text(7, "s")}, `[{"n": 3, "s": null}]`)
	w.commit(w.data("b.parquet", 1, nil))
	q := w.open(iceberg.Options{}).Query(engine)
	want := func(n int, s string) string {
		return jsonText(object{"n": n, "b": true, "i": -5, "l": int64(9007199254740993), "f": 0.5, "x": 1e100, "y": "AP8=", "z": "Cgs=", "u": "95w+CWd8S72keT80nLeF5w==", "c": "14.2",
			"d": "2017-11-16", "h": "22:31:08.123456", "t": "2017-11-16 22:31:08.123456Z", "tz": "2017-11-16 21:31:08.123456Z", "tn": "2017-11-16 22:31:08.123456789Z", "none": nil, "s": map[string]any{"é": "é"}[s]})
	}
	lines := rowsOf(t, q)
	require.Len(t, lines, 3)
	for i, line := range lines {
		require.JSONEq(t, want(i+1, []string{"é", "é", ""}[i]), line)
	}
	require.Equal(t, []string{`{"n":1}`, `{"n":2}`}, rowsOf(t, q.Filter(gpuframe.Col("s").Eq("é")).Select(gpuframe.Col("n"))))
	for column, text := range map[string]string{
		"2 b boolean = 1": "is no bool", "3 i int = 3000000000": "is no int32", "11 c decimal(4,2) = \"1.234\"": "is no decimal", "9 z fixed[2] = \"00\"": "is no fixed_size_binary",
		"12 d date = \"x\"": "is no date32", "14 t timestamp = \"2017-11-16\"": "is no timestamp", "16 tn timestamp_ns = \"9999-11-16T22:31:08\"": "outside the range",
		"17 u unknown = 7": "is no null",
	} {
		w.schema(5, column)
		w.about["current-schema-id"] = 5
		w.write()
		w.fail(iceberg.Options{}, iceberg.ErrMetadata, text)
		w.about["schemas"] = w.about["schemas"].([]object)[:2]
	}
	for column, text := range map[string]string{"2 z fixed[65537]": "the limit is fixed[65536]", `2 s string = "` + strings.Repeat("x", 5000) + `"`: "the initial default has 5002 bytes, the limit is 4096"} {
		w.schema(5, column)
		w.write()
		w.fail(iceberg.Options{}, iceberg.ErrLimit, text)
		w.about["schemas"] = w.about["schemas"].([]object)[:2]
	}
	w.schema(5, `2 l {"type": "list", "element-id": 12, "element-required": false, "element": "int"} = []`)
	w.write()
	w.fail(iceberg.Options{}, iceberg.ErrUnsupported, "the initial default []")
}

// Files without field IDs are read by the name mapping of the table; without one they are refused.
func TestNameMapping(t *testing.T) {
	w, engine := newTable(t, `1 n long
2 s {"type": "struct", "fields": [{"id": 3, "name": "a", "required": false, "type": "long"}]}`), openEngine(t)
	w.parquet("a.parquet", []arrow.Field{long(0, "older"), field(0, "s", arrow.StructOf(long(0, "b"), long(0, "a")))}, `[{"older": 1, "s": {"a": 1, "b": 2}}]`)
	w.parquet("b.parquet", []arrow.Field{long(1, "other")}, `[{"other": 5}]`)
	w.commit(w.data("a.parquet", 1, nil), w.data("b.parquet", 1, nil))
	_, err := linesOf(t.Context(), w.open(iceberg.Options{}).Query(engine))
	require.ErrorContains(t, err, "a.parquet")
	require.ErrorContains(t, err, "none of its columns has a field ID")
	w.about["properties"] = object{"schema.name-mapping.default": `[{"field-id": 1, "names": ["n", "older"]}, {"field-id": 2, "names": ["s"], "fields": [{"field-id": 3, "names": ["b"]}]}, {"names": ["other"]}]`}
	w.write()
	require.Equal(t, []string{`{"n":1,"s":{"a":2}}`, `{"n":5,"s":null}`}, rowsOf(t, w.open(iceberg.Options{}).Query(engine)))
	w.about["properties"] = object{"schema.name-mapping.default": `[{"field-id": 2, "names": ["s"]}]`}
	w.write()
	require.Equal(t, []string{`{"n":5,"s":null}`, `{"n":null,"s":{"a":null}}`}, rowsOf(t, w.open(iceberg.Options{}).Query(engine)))
	w.about["properties"] = object{"schema.name-mapping.default": `{`}
	w.write()
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, "the property schema.name-mapping.default")
}
