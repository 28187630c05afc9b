package iceberg_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// other is a table of another writer, with the rows that the tests of duckdb-iceberg have for it.
type other struct {
	path    string
	options iceberg.Options
	query   func(gpuframe.Query) gpuframe.Query
	want    string
}

func columns(names ...string) func(gpuframe.Query) gpuframe.Query {
	return func(q gpuframe.Query) gpuframe.Query {
		var list []gpuframe.Expression
		for _, name := range names {
			list = append(list, gpuframe.Col(name))
		}
		return q.Select(list)
	}
}

func where(condition gpuframe.Expr, names ...string) func(gpuframe.Query) gpuframe.Query {
	return func(q gpuframe.Query) gpuframe.Query { return columns(names...)(q.Filter(condition)) }
}

func number(condition gpuframe.Expr) func(gpuframe.Query) gpuframe.Query {
	return func(q gpuframe.Query) gpuframe.Query { return q.Filter(condition).Select(gpuframe.Count().As("n")) }
}

var (
	b      = gpuframe.Col("b")
	flag   = gpuframe.Col("flag")
	oldest = iceberg.Options{Snapshot: new(int64(6597550917742534971))}
)

// others are the tables: those that testdata lacks are read if GPUFRAME_ICEBERG_TABLES names a copy of that repository.
var others = []other{
	{path: "hive_partitioned_table", want: `{"event_date":"2024-01-01","event_type":"click","user_id":12345}
{"event_date":"2024-01-02","event_type":"purchase","user_id":67890}
{"event_date":"2024-01-03","event_type":"click","user_id":24680}
{"event_date":"2024-01-03","event_type":"view","user_id":13579}
{"event_date":"2024-01-04","event_type":"purchase","user_id":97531}
{"event_date":"2024-01-04","event_type":"view","user_id":86420}`},
	{path: "hive_partitioned_table", query: where(gpuframe.Col("event_type").Eq("view"), "user_id"), want: `{"user_id":13579}
{"user_id":86420}`},
	{path: "equality_deletes/warehouse/mydb/mytable", want: `{"bir":"2025-01-04","id":4,"name":"d"}
{"bir":"2025-01-05","id":5,"name":"e"}`},
	{path: "equality_deletes/warehouse/mydb/mytable", query: columns("bir"), want: `{"bir":"2025-01-04"}
{"bir":"2025-01-05"}`},
	{path: "equality_deletes/warehouse/mydb/mytable_partitioned", want: `{"bir":"2025-01-01","id":1,"name":"a"}
{"bir":"2025-01-04","id":4,"name":"d"}
{"bir":"2025-01-05","id":5,"name":"e"}`},
	{path: "equality_delete_cross_partition/warehouse/ns/t/metadata/vfinal.metadata.json", want: `{"key":100,"part":1,"val":"p1-k100"}
{"key":888,"part":1,"val":"p1-k888"}
{"key":999,"part":0,"val":"p0-k999"}`},
	{path: "legacy_bare_deletion_vector/warehouse/default/legacy_bare_deletion_vector", want: `{"id":1,"source":"legacy"}
{"id":3,"source":"legacy"}`},
	{path: "iceberg_v1_deprecated/default/legacy_v1", want: `{"amount":10,"category":"alpha","id":1}
{"amount":20,"category":"beta","id":2}
{"amount":null,"category":"alpha","id":3}`},
	{path: "iceberg_v1_deprecated/default/legacy_v1", query: where(gpuframe.Col("category").Eq("beta"), "id", "amount"), want: `{"amount":20,"id":2}`},
	{path: "iceberg_v1_repro/repro/merch_v1/metadata/00003-8d01e4aa-d143-49c9-898e-b5e477577b70.metadata.json", want: merchandise},
	{path: "iceberg_v1_repro/repro/merch_v1/metadata/00004-v3-upgraded-v1-null-counts.metadata.json", want: merchandise},
	{path: "column_mapping/warehouse/default.db/my_table", want: `{"age":25,"attributes":[{"key":"height","value":"5.5"},{"key":"weight","value":"130"}],"id":1,"name":"Alice","profile":{"email":"alice@example.com","verified":true},"scores":[85,90]}
{"age":30,"attributes":[{"key":"height","value":"6.0"},{"key":"weight","value":"180"}],"id":2,"name":"Bob","profile":{"email":"bob@example.com","verified":false},"scores":[78,82,88]}
{"age":35,"attributes":[{"key":"height","value":"5.8"},{"key":"weight","value":"160"}],"id":3,"name":"Charlie","profile":{"email":"charlie@example.com","verified":true},"scores":[92]}`},
	{path: "null_stats/default/test_nulls", query: where(flag.IsNull(), "id"), want: `{"id":4}
{"id":5}
{"id":7}
{"id":8}
{"id":9}`},
	{path: "null_stats/default/test_nulls", query: where(flag.IsValid(), "id", "name", "ts", "flag"), want: `{"flag":false,"id":2,"name":"b","ts":"2024-03-02 17:20:00Z"}
{"flag":true,"id":1,"name":"a","ts":"2024-03-01 13:33:20Z"}
{"flag":true,"id":3,"name":"c","ts":"2024-03-03 21:06:40Z"}
{"flag":true,"id":6,"name":"f","ts":"2024-03-07 08:26:40Z"}`},
	{path: "map_stats/default.db/map_stats", want: `{"input":"hello","metadata":[{"key":"key","value":"value1"}],"output":"world","timestamp":"2026-01-01 00:00:00Z"}
{"input":"hello","metadata":[{"key":"key","value":"value1"}],"output":"world","timestamp":"2026-01-02 00:00:00Z"}`},
	{path: "partition_decimal_hugeint", query: columns("partition_col"), want: `{"partition_col":"-0.12345678901234567890123"}
{"partition_col":"-1000000000000.00000000000000000001"}
{"partition_col":"-2.71828182845904523536029"}
{"partition_col":"-5432109876.10987654321098765432109"}
{"partition_col":"-9876.54321098765432109876543"}
{"partition_col":"0"}
{"partition_col":"0.5"}
{"partition_col":"1.23456789012345678901234"}
{"partition_col":"1000000000000.00000000000000000001"}
{"partition_col":"1234.54321098765432109876543"}
{"partition_col":"123456789.45678901234567890123456"}
{"partition_col":"1e-23"}
{"partition_col":"3.14159265358979323846264"}
{"partition_col":"42.56378901234567890123456"}
{"partition_col":"9999999999999.99999999999999999999"}`},
	{path: "partition_timestamptz/default.db/partition_timestamptz", want: `{"event_type":"click","partition_col":"2023-05-15 14:30:45Z","user_id":12345}
{"event_type":"purchase","partition_col":"2023-08-22 09:15:20Z","user_id":67890}`},
	{path: "uuid", query: number(gpuframe.Col("uuid").IsValid()), want: `{"n":10}`},
	{path: "add_columns_with_defaults/default.db/add_columns_with_defaults", query: columns("col_boolean", "col_integer", "col_long", "col_float", "col_double", "col_decimal", "col_date", "col_time", "col_timestamp", "col_timestamptz", "col_string", "col_fixed", "col_binary"),
		want: `{"col_binary":"AQI=","col_boolean":true,"col_date":"2003-10-20","col_decimal":"12345","col_double":0.342343242342342,"col_fixed":"AQID/wM=","col_float":0.34234,"col_integer":342342,"col_long":-9223372036854775808,"col_string":"HELLO","col_time":"00:00:00.012345","col_timestamp":"1970-01-01 00:00:00.012345Z","col_timestamptz":"1970-01-01 00:00:00.012345Z"}
{"col_binary":"AQI=","col_boolean":true,"col_date":"2003-10-20","col_decimal":"12345","col_double":0.342343242342342,"col_fixed":"AQID/wM=","col_float":0.34234,"col_integer":342342,"col_long":-9223372036854775808,"col_string":"HELLO","col_time":"00:00:00.012345","col_timestamp":"1970-01-01 00:00:00.012345Z","col_timestamptz":"1970-01-01 00:00:00.012345Z"}
{"col_binary":"gACA","col_boolean":false,"col_date":"0011-03-05","col_decimal":"3423434.23","col_double":23.343424523423433,"col_fixed":"gACAAIA=","col_float":23.34342,"col_integer":453243,"col_long":328725092345834,"col_string":"World","col_time":"12:06:45","col_timestamp":"0011-03-05 12:06:45Z","col_timestamptz":"2023-05-15 14:30:45Z"}`},
	{path: "add_columns_with_defaults_in_struct/default.db/add_columns_with_defaults_in_struct",
		want: `{"a":{"col1":"test","col_binary":"AQI=","col_boolean":true,"col_date":"2003-10-20","col_decimal":"12345","col_double":0.342343242342342,"col_fixed":"AQID/wM=","col_float":0.34234,"col_integer":342342,"col_long":-9223372036854775808,"col_string":"HELLO","col_time":"00:00:00.012345","col_timestamp":"1970-01-01 00:00:00.012345Z","col_timestamptz":"1970-01-01 00:00:00.012345Z","col_uuid":"95w+CWd8S72keT80nLeF5w=="}}
{"a":{"col1":"test","col_binary":"gACA","col_boolean":false,"col_date":"0011-03-05","col_decimal":"3423434.23","col_double":23.343424523423433,"col_fixed":null,"col_float":23.34342,"col_integer":453243,"col_long":328725092345834,"col_string":"World","col_time":"12:06:45","col_timestamp":"0011-03-05 12:06:45Z","col_timestamptz":null,"col_uuid":null}}`},

	{path: "name_mapping/warehouse_1/mydb/t1/metadata/v3.metadata.json", options: oldest, query: number(b.IsNull()), want: `{"n":0}`},
	{path: "name_mapping/warehouse_1/mydb/t1/metadata/v3.metadata.json", options: oldest, query: number(b.IsValid()), want: `{"n":10000}`},
	{path: "name_mapping/warehouse_1/mydb/t1/metadata/v3.1.metadata.json", options: oldest, query: number(b.IsNull()), want: `{"n":10000}`},
	{path: "name_mapping/warehouse_1/mydb/t1/metadata/v3.2.metadata.json", options: oldest, query: number(b.IsNull().And(gpuframe.Col("a").IsNull())), want: `{"n":10000}`},
	{path: "name_mapping/warehouse_1/mydb/t1/metadata/v4.metadata.json", options: oldest, query: number(b.IsValid()), want: `{"n":10000}`},
	{path: "name_mapping/warehouse_1/mydb/t1/metadata/v4.1.metadata.json", options: oldest, query: number(b.IsNull()), want: `{"n":10000}`},
	{path: "name_mapping/warehouse_1/mydb/t1/metadata/v7.metadata.json", options: iceberg.Options{Snapshot: new(int64(2651609110244230974))}, query: number(b.IsNull()), want: `{"n":10000}`},
	{path: "iceberg/lineitem_iceberg", options: iceberg.Options{Moved: true}, query: number(gpuframe.Col("l_orderkey").IsValid()), want: `{"n":51793}`},
	{path: "iceberg/lineitem_iceberg_no_hint", options: iceberg.Options{Moved: true, Snapshot: new(int64(7817332053627255703))}, query: number(gpuframe.Col("l_orderkey").IsValid()), want: `{"n":60175}`},
	{path: "iceberg/lineitem_iceberg_gz", options: iceberg.Options{Moved: true}, query: number(gpuframe.Col("l_orderkey").IsValid()), want: `{"n":111968}`},
	{path: "iceberg/lineitem_iceberg_gz_no_hint", options: iceberg.Options{Moved: true}, query: number(gpuframe.Col("l_orderkey").IsValid()), want: `{"n":111968}`},
	{path: "iceberg/lineitem_iceberg", options: iceberg.Options{Moved: true}, query: revenue, want: `{"revenue":"1077536.9101"}`},
}

const merchandise = `{"ats_qty":20,"id":2,"league":"nba"}
{"ats_qty":30,"id":3,"league":"mlb"}
{"ats_qty":40,"id":4,"league":"nhl"}
{"ats_qty":60,"id":6,"league":"nba"}`

// revenue is query 6 of TPC-H. The README of the table has the answer of PySpark.
func revenue(q gpuframe.Query) gpuframe.Query {
	day := func(year int) gpuframe.Expr {
		return gpuframe.Lit(arrow.Date32FromTime(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)))
	}
	shipped, discount := gpuframe.Col("l_shipdate"), gpuframe.Col("l_discount")
	return q.Filter(shipped.Ge(day(1994)), shipped.Lt(day(1995)), discount.Ge(0.05), discount.Le(0.07), gpuframe.Col("l_quantity").Lt(24)).
		Select(gpuframe.Col("l_extendedprice").Mul(discount).Sum().As("revenue"))
}

// tablesInTestdata is the number of cases of which testdata has the table.
const tablesInTestdata = 20

func TestTablesOfOthers(t *testing.T) {
	engine := openEngine(t)
	compared := 0
	for i, each := range others {
		root := "testdata/duckdb"
		path := "data/persistent/" + each.path
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			root = os.Getenv("GPUFRAME_ICEBERG_TABLES")
		}
		if root == "" {
			continue
		}
		t.Run(fmt.Sprintf("%d %s", i, each.path), func(t *testing.T) {
			each.options.System = os.DirFS(root)
			table, err := iceberg.Open(t.Context(), path, each.options)
			require.NoError(t, err)
			q := table.Query(engine)
			if each.query != nil {
				q = each.query(q)
			}
			require.Equal(t, strings.Split(each.want, "\n"), rowsOf(t, q))
			compared++
		})
	}
	if os.Getenv("GPUFRAME_ICEBERG_TABLES") != "" {
		require.Len(t, others, compared)
	}
	require.GreaterOrEqual(t, compared, tablesInTestdata)
}

// byID groups rows by the column id.
func byID(t *testing.T, lines []string) map[int64][]string {
	groups := map[int64][]string{}
	for _, line := range lines {
		var row struct {
			ID int64 `json:"id"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		groups[row.ID] = append(groups[row.ID], line)
	}
	return groups
}

var isoTime = regexp.MustCompile(`"(\d{4}-\d\d-\d\d)T([\d:.]+)"`)

// The tables that iceberg-go has written, by its program in internal/writer: every snapshot has the rows that its own scan read.
func TestTablesOfIcebergGo(t *testing.T) {
	folder := "testdata/go"
	if other := os.Getenv("GPUFRAME_ICEBERG_GO_TABLES"); other != "" {
		folder = other
	}
	engine := openEngine(t)
	names, err := fs.Glob(os.DirFS(folder), "*/expected/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			expected, err := os.ReadFile(filepath.Join(folder, name))
			require.NoError(t, err)
			want := strings.Split(strings.TrimSpace(isoTime.ReplaceAllString(string(expected), `"$1 ${2}Z"`)), "\n")
			id, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(name), ".jsonl"), 10, 64)
			require.NoError(t, err)
			table, err := iceberg.Open(t.Context(), filepath.Join(folder, strings.Split(name, "/")[0]), iceberg.Options{Snapshot: &id, Moved: true})
			require.NoError(t, err)
			require.ElementsMatch(t, want, rowsOf(t, table.Query(engine)))
			counted := rowsOf(t, table.Query(engine).Select(gpuframe.Count().As("n")))
			require.Equal(t, []string{fmt.Sprintf(`{"n":%d}`, len(want))}, counted)
			for id, rows := range byID(t, want) { // files are left out by their partitions and bounds
				require.ElementsMatch(t, rows, rowsOf(t, table.Query(engine).Filter(gpuframe.Col("id").Eq(id))))
			}
		})
	}
}
