package iceberg_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// read reports whether a query opens the only file of a table, which does not exist.
func read(t *testing.T, q gpuframe.Query, condition gpuframe.Expr) bool {
	t.Helper()
	_, err := linesOf(t.Context(), q.Filter(condition))
	if err != nil {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	return errors.Is(err, fs.ErrNotExist)
}

// Files are left out by the values of their partitions before they are opened.
func TestPartitionsLeaveOut(t *testing.T) {
	w, engine := newTable(t, "1 n long\n2 s string\n3 at timestamp\n4 d date\n5 c decimal(9,2)\n6 y binary\n7 i int\n8 tn timestamp_ns\n9 z long\n10 b string"), openEngine(t)
	w.spec(1, `1000 n_trunc truncate[10] 1 "long"
1001 s_trunc truncate[2] 2 "string"
1002 at_day day 3 {"type": "int", "logicalType": "date"}
1003 d_month month 4 "int"
1004 c_trunc truncate[50] 5 "bytes"
1005 y_trunc truncate[1] 6 "bytes"
1006 i_bucket bucket[16] 7 "int"
1009 b_bucket bucket[16] 10 "int"
1007 tn_year year 8 "int"
1008 z_void void 9 "long"`)
	w.commit(w.data("absent.parquet", 9, object{"spec": 1, "partition": object{"n_trunc": int64(20), "s_trunc": "ab", "at_day": 1, "d_month": 650, "c_trunc": []byte{0x32}, "y_trunc": []byte{0xff},
		"i_bucket": 3, "b_bucket": 1210000089 % 16, "tn_year": 54}}))
	q := w.open(iceberg.Options{}).Query(engine)
	at := func(text string) gpuframe.Expr {
		parsed, err := time.Parse(time.DateTime, text)
		require.NoError(t, err)
		return gpuframe.Lit(parsed)
	}
	day := func(text string) gpuframe.Expr {
		parsed, err := time.Parse(time.DateOnly, text)
		require.NoError(t, err)
		return gpuframe.Lit(arrow.Date32FromTime(parsed))
	}
	n, s, ts, d, c, y, i, tn, z := gpuframe.Col("n"), gpuframe.Col("s"), gpuframe.Col("at"), gpuframe.Col("d"), gpuframe.Col("c"), gpuframe.Col("y"), gpuframe.Col("i"), gpuframe.Col("tn"), gpuframe.Col("z")
	for _, condition := range []gpuframe.Expr{
		n.Lt(20), n.Gt(29), n.Eq(30), s.Lt("ab"), s.Eq("b"), s.Gt("ad"), ts.Lt(at("1970-01-02 00:00:00")), ts.Ge(at("1970-01-03 00:00:00")),
		d.Lt(day("2024-03-01")), d.Gt(day("2024-03-31")), c.Lt(0.5), c.Ge(1), y.Eq([]byte{0xfe}), tn.Lt(at("2024-01-01 00:00:00")), tn.Ge(at("2025-01-01 00:00:00")),
		i.Eq(35), i.In(35, 36), gpuframe.Col("b").Eq("iceberk"),
	} {
		require.False(t, read(t, q, condition), "%v", condition)
	}
	for _, condition := range []gpuframe.Expr{
		n.Eq(20), n.Eq(29), s.Eq("ab"), s.Eq("abz"), s.Gt("ab\xff"), ts.Eq(at("1970-01-02 00:00:00")), ts.Eq(at("1970-01-02 23:59:59")), d.Eq(day("2024-03-01")), d.Eq(day("2024-03-31")),
		c.Eq(0.5), c.Eq(0.99), y.Eq([]byte{0xff, 0xff}), tn.Eq(at("2024-12-31 23:59:59")), i.Eq(34), i.In(34, 35), i.Ne(35), i.Gt(35), i.Eq(34.0), gpuframe.Col("b").Eq("iceberg"), gpuframe.Col("b").Gt("iceberk"), i.IsNull(), z.Eq(1), z.IsValid(), n.IsNull(),
	} {
		require.True(t, read(t, q, condition), "%v", condition)
	}

	// Times before 1970, of writers that rounded up, and nulls.
	w.manifests = nil
	w.commit(w.data("absent.parquet", 9, object{"spec": 1, "partition": object{"at_day": -1, "d_month": 0}}))
	q = w.open(iceberg.Options{}).Query(engine)
	for _, condition := range []gpuframe.Expr{ts.Lt(at("1969-12-30 00:00:00")), ts.Ge(at("1970-01-01 00:00:00")), d.Lt(day("1969-12-01")), d.Ge(day("1970-02-01")), n.IsValid(), i.IsValid(), s.Eq("x"), tn.IsValid()} {
		require.False(t, read(t, q, condition), "%v", condition)
	}
	for _, condition := range []gpuframe.Expr{ts.Lt(at("1969-12-31 00:00:00")), ts.Eq(at("1969-12-31 12:00:00")), d.Eq(day("1969-12-15")), d.Eq(day("1970-01-31")), n.IsNull(), i.IsNull(), z.IsValid()} {
		require.True(t, read(t, q, condition), "%v", condition)
	}
}

// Column bounds leave out files; bounds of narrower types too.
func TestBoundsLeaveOut(t *testing.T) {
	w, engine := newTable(t, "1 n long\n2 s string\n3 x double\n4 c decimal(9,2)\n5 b boolean\n6 at timestamp\n7 h time\n8 u uuid"), openEngine(t)
	bound := func(n, s, x, c, b, at string) any {
		return bounds(map[int]string{1: n, 2: s, 3: x, 4: c, 5: b, 6: at})
	}
	w.commit(w.data("absent.parquet", 10, object{
		"lower_bounds": bound("\x05\x00\x00\x00", "", "\x00\x00\x80\x3f", "\xff\x38", "\x00", "\x01\x00\x00\x00"), // 5, "", 1, -2, false, 1970-01-02
		"upper_bounds": bound("\x09\x00\x00\x00\x00\x00\x00\x00", "mm", "\x00\x00\x00\x00\x00\x00\x00\x40", "\x64", "\x00", "\x01\x00\x00\x00"),
		"value_counts": counts(map[int]int64{1: 10, 2: 10, 5: 10}), "null_value_counts": counts(map[int]int64{1: 0, 2: 3, 5: 10}),
	}))
	q := w.open(iceberg.Options{}).Query(engine)
	n, s, x, c, b, at := gpuframe.Col("n"), gpuframe.Col("s"), gpuframe.Col("x"), gpuframe.Col("c"), gpuframe.Col("b"), gpuframe.Col("at")
	second := gpuframe.Lit(time.Date(1970, 1, 2, 0, 0, 1, 0, time.UTC))
	for _, condition := range []gpuframe.Expr{n.Lt(5), n.Gt(9), n.IsNull(), s.Gt("mn"), x.Lt(1), x.Gt(2).And(x.IsNaN().Not()), c.Lt(-2), c.Gt(1), b.IsValid(), at.Ge(second)} {
		require.False(t, read(t, q, condition), "%v", condition)
	}
	for _, condition := range []gpuframe.Expr{n.Eq(9), s.Eq(""), s.Eq("mmz"), s.IsNull(), x.Eq(2), x.Gt(2), c.Eq(-2), b.IsNull(), at.Lt(second), gpuframe.Col("h").IsNull(), gpuframe.Col("u").IsValid()} {
		require.True(t, read(t, q, condition), "%v", condition)
	}
}

// Bounds that are too long to keep leave out nothing.
func TestLongBounds(t *testing.T) {
	w, engine := newTable(t, "1 s string"), openEngine(t)
	w.commit(w.data("absent.parquet", 1, object{"lower_bounds": bounds(map[int]string{1: "b"}), "upper_bounds": bounds(map[int]string{1: strings.Repeat("m", 5000)})}))
	q, s := w.open(iceberg.Options{}).Query(engine), gpuframe.Col("s")
	require.False(t, read(t, q, s.Eq("a")))
	require.True(t, read(t, q, s.Eq("z")))
}

// Columns of identity partitions may be absent in files. Specs change, and types of columns after them.
func TestIdentityPartitions(t *testing.T) {
	w, engine := newTable(t, "1 n long\n2 p int\n3 s string\n4 f float\n5 d decimal(9,2)\n6 at timestamp\n7 h time\n8 b boolean\n9 day date\n10 y binary\n11 z fixed[2]\n12 l long\n13 x double\n14 w date\n15 none string"), openEngine(t)
	w.parquet("a.parquet", []arrow.Field{long(1, "n")}, `[{"n": 1}]`)
	w.commit(w.data("a.parquet", 1, nil))
	w.spec(1, `1000 p identity 2 "int"
1001 s identity 3 "string"
1002 f identity 4 "float"
1003 d identity 5 {"type": "fixed", "name": "fd", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}
1004 at identity 6 {"type": "long", "logicalType": "timestamp-micros"}
1005 h identity 7 {"type": "long", "logicalType": "time-micros"}
1006 b identity 8 "boolean"
1007 day identity 9 {"type": "int", "logicalType": "date"}
1008 y identity 10 "bytes"
1009 z identity 11 {"type": "fixed", "name": "fz", "size": 2}
1010 l identity 12 "int"
1011 x identity 13 "float"
1012 w identity 14 "int"
1013 none identity 15 "string"`)
	w.schema(1, "1 n long\n2 p int\n3 s string\n4 f float\n5 d decimal(9,2)\n6 at timestamp\n7 h time\n8 b boolean\n9 day date\n10 y binary\n11 z fixed[2]\n12 l long\n13 x double\n14 w timestamp\n15 none string")
	w.parquet("b.parquet", []arrow.Field{long(1, "n")}, `[{"n": 2}]`)
	partition := object{"p": 7, "s": "é", "f": float32(1.5), "d": []byte{0xff, 0xff, 0xff, 0x38}, "at": time.UnixMicro(1).UTC(), "h": int64(1000000), "b": true, "day": 1, "y": []byte("y"), "z": []byte("zz"), "l": 8, "x": float32(0.5), "w": 2}
	w.commit(w.data("b.parquet", 1, object{"spec": 1, "partition": partition}))
	q := w.open(iceberg.Options{}).Query(engine)
	require.Equal(t, []string{
		`{"at":"1970-01-01 00:00:00.000001Z","b":true,"d":"-2","day":"1970-01-02","f":1.5,"h":"00:00:01","l":8,"n":2,"none":null,"p":7,"s":"é","w":"1970-01-03 00:00:00Z","x":0.5,"y":"eQ==","z":"eno="}`,
		`{"at":null,"b":null,"d":null,"day":null,"f":null,"h":null,"l":null,"n":1,"none":null,"p":null,"s":null,"w":null,"x":null,"y":null,"z":null}`,
	}, rowsOf(t, q))
	require.Equal(t, []string{`{"n":2}`}, rowsOf(t, q.Filter(gpuframe.Col("p").Eq(7)).Select(gpuframe.Col("n"))))
	files := w.open(iceberg.Options{}).Files()
	require.Empty(t, files[0].Partition)
	require.Len(t, files[1].Partition, 14)
	require.Equal(t, "7", files[1].Partition["p"].String())

	w.spec(2, `1000 p identity 2 "string"`)
	w.commit(w.data("b.parquet", 1, object{"spec": 2, "partition": object{"p": "x"}}))
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, `b.parquet: the partition value x of column "p": it is a string, for a column of int32`)
	w.manifests[len(w.manifests)-1]["partition_spec_id"] = 9
	w.snapshot()
	w.fail(iceberg.Options{}, iceberg.ErrMetadata, "its partition spec 9 is absent")
}
