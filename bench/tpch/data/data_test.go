package data

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"
)

const scale = 0.01

func generator(t *testing.T) *Generator {
	g, err := New(scale, 1)
	require.NoError(t, err)
	return g
}

// whole returns a table in one record.
func whole(t *testing.T, g *Generator, of Table, rows int64) arrow.Record {
	var records []arrow.Record
	for record, err := range g.Records(t.Context(), of, rows) {
		require.NoError(t, err)
		t.Cleanup(record.Release)
		records = append(records, record)
	}
	columns := make([]arrow.Array, of.Schema().NumFields())
	for i := range columns {
		var parts []arrow.Array
		for _, record := range records {
			parts = append(parts, record.Column(i))
		}
		var err error
		columns[i], err = array.Concatenate(parts, arrowmemory.DefaultAllocator)
		require.NoError(t, err)
	}
	made := array.NewRecord(of.Schema(), columns, -1)
	t.Cleanup(made.Release)
	return made
}

// integers returns a column of keys, dates, or decimals in hundredths.
func integers(record arrow.Record, name string) (list []int64) {
	switch c := record.Column(record.Schema().FieldIndices(name)[0]).(type) {
	case *array.Int32:
		for _, v := range c.Int32Values() {
			list = append(list, int64(v))
		}
	case *array.Int64:
		list = c.Int64Values()
	case *array.Date32:
		for _, v := range c.Date32Values() {
			list = append(list, int64(v))
		}
	case *array.Decimal128:
		for _, v := range c.Values() {
			list = append(list, int64(v.LowBits()))
		}
	}
	return list
}

func texts(record arrow.Record, name string) (list []string) {
	c := record.Column(record.Schema().FieldIndices(name)[0]).(*array.String)
	for i := range c.Len() {
		list = append(list, c.Value(i))
	}
	return list
}

func requireRange(t *testing.T, record arrow.Record, name string, low, high int64) {
	t.Helper()
	list := integers(record, name)
	require.GreaterOrEqual(t, slices.Min(list), low, name)
	require.LessOrEqual(t, slices.Max(list), high, name)
	if high-low < int64(len(list))/50 {
		require.Equal(t, []int64{low, high}, []int64{slices.Min(list), slices.Max(list)}, name)
	}
}

func requireMatch(t *testing.T, record arrow.Record, name, pattern string) {
	t.Helper()
	shape := regexp.MustCompile("^(" + pattern + ")$")
	for _, text := range texts(record, name) {
		if !shape.MatchString(text) {
			require.Regexp(t, shape, text, name)
		}
	}
}

func TestEntities(t *testing.T) {
	g := generator(t)
	counts := map[Table]int64{Region: 5, Nation: 25, Supplier: 100, Customer: 1500, Part: 2000, PartSupp: 8000, Orders: 15000}
	for of, want := range counts {
		record := whole(t, g, of, 700)
		require.Equal(t, want, record.NumRows(), of)
		require.Equal(t, want, g.Rows(of), of)
		require.True(t, record.Schema().Equal(of.Schema()))
	}
	part := whole(t, g, Part, 1<<20)
	requireMatch(t, part, "p_name", `[a-z]+( [a-z]+){4}`)
	requireMatch(t, part, "p_brand", `Brand#[1-5][1-5]`)
	requireMatch(t, part, "p_type", `(`+strings.Join(typeSizes, "|")+`) (`+strings.Join(typeCoatings, "|")+`) (`+strings.Join(typeMetals, "|")+`)`)
	requireMatch(t, part, "p_container", `(SM|LG|MED|JUMBO|WRAP) (CASE|BOX|BAG|JAR|PKG|PACK|CAN|DRUM)`)
	requireRange(t, part, "p_size", 1, 50)
	requireRange(t, part, "p_retailprice", 90_000, 90_000+200+99_900)
	require.Len(t, colours, 92)
	for i, name := range texts(part, "p_name") {
		words := strings.Fields(name)
		slices.Sort(words)
		if len(slices.Compact(words)) != 5 {
			t.Fatalf("row %d: %s", i, name)
		}
	}
	supplier := whole(t, g, Supplier, 1<<20)
	requireMatch(t, supplier, "s_name", `Supplier#\d{9}`)
	requireMatch(t, supplier, "s_address", `.{10,40}`)
	requireMatch(t, supplier, "s_phone", `[123]\d-[1-9]\d\d-[1-9]\d\d-[1-9]\d\d\d`)
	requireMatch(t, supplier, "s_comment", `.{25,100}`)
	for _, report := range []string{"Complaints", "Recommends"} {
		found := regexp.MustCompile("Customer.*"+report).FindAllString(strings.Join(texts(supplier, "s_comment"), "\n"), -1)
		require.Len(t, found, 1, report)
	}
	customer := whole(t, g, Customer, 1<<20)
	requireRange(t, customer, "c_nationkey", 0, 24)
	requireRange(t, customer, "c_acctbal", -99_999, 999_999)
	requireMatch(t, customer, "c_mktsegment", strings.Join(segments, "|"))
	require.Contains(t, texts(customer, "c_name"), "Customer#000001500")
	pairs := map[[2]int64]bool{}
	partSupp := whole(t, g, PartSupp, 1<<20)
	suppliers := integers(partSupp, "ps_suppkey")
	for i, part := range integers(partSupp, "ps_partkey") {
		pairs[[2]int64{part, suppliers[i]}] = true
	}
	require.Len(t, pairs, 8000)
	requireRange(t, partSupp, "ps_suppkey", 1, 100)
	requireRange(t, partSupp, "ps_availqty", 1, 9_999)
}

func TestOrdersAndLines(t *testing.T) {
	g := generator(t)
	orders, lines := whole(t, g, Orders, 1<<20), whole(t, g, Lineitem, 5_000)
	require.InDelta(t, float64(g.Rows(Lineitem)), float64(lines.NumRows()), 1_000)
	requireRange(t, lines, "l_quantity", 100, 5_000)
	requireRange(t, lines, "l_discount", 0, 10)
	requireRange(t, lines, "l_tax", 0, 8)
	requireRange(t, lines, "l_linenumber", 1, 7)
	requireRange(t, orders, "o_orderdate", firstDay, lastDay-151)
	requireMatch(t, lines, "l_shipmode", strings.Join(modes, "|"))
	requireMatch(t, orders, "o_comment", `.{19,78}`)
	keys := integers(orders, "o_orderkey")
	require.True(t, slices.IsSorted(keys))
	require.Less(t, keys[len(keys)-1], int64(4*15_000+sparse))
	require.False(t, slices.ContainsFunc(keys, func(key int64) bool { return key%sparse >= 8 }))
	require.False(t, slices.ContainsFunc(integers(orders, "o_custkey"), func(key int64) bool { return key%3 == 0 }))
	requireRange(t, orders, "o_custkey", 1, 1500)

	// The order's columns follow from its lines.
	numbers := map[string][]int64{}
	for _, name := range []string{"l_orderkey", "l_partkey", "l_suppkey", "l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_shipdate", "l_commitdate", "l_receiptdate"} {
		numbers[name] = integers(lines, name)
	}
	dates, totals, at := integers(orders, "o_orderdate"), integers(orders, "o_totalprice"), 0
	status, ofLine, flag := texts(orders, "o_orderstatus"), texts(lines, "l_linestatus"), texts(lines, "l_returnflag")
	for i, key := range keys {
		var total int64
		seen := ""
		for ; at < len(ofLine) && numbers["l_orderkey"][at] == key; at++ {
			shipped, received := numbers["l_shipdate"][at], numbers["l_receiptdate"][at]
			fits := shipped > dates[i] && shipped <= dates[i]+121 && received > shipped && received <= shipped+30 &&
				numbers["l_commitdate"][at] >= dates[i]+30 && numbers["l_commitdate"][at] <= dates[i]+90 &&
				(shipped > currentDay) == (ofLine[at] == "O") && (received > currentDay) == (flag[at] == "N") &&
				numbers["l_quantity"][at]/100*retailPrice(numbers["l_partkey"][at]) == numbers["l_extendedprice"][at]
			if !fits {
				t.Fatalf("line %d of order %d breaks a rule", at, key)
			}
			total += numbers["l_extendedprice"][at] * (100 - numbers["l_discount"][at]) / 100 * (100 + numbers["l_tax"][at]) / 100
			if !strings.Contains(seen, ofLine[at]) {
				seen += ofLine[at]
			}
		}
		if len(seen) == 2 {
			seen = "P"
		}
		if seen != status[i] || total != totals[i] {
			t.Fatalf("order %d is %s %d, expected %s %d", key, status[i], totals[i], seen, total)
		}
	}
	require.Equal(t, int(lines.NumRows()), at)

	special := regexp.MustCompile("special.*requests").FindAllString(strings.Join(texts(orders, "o_comment"), "\n"), -1)
	require.InDelta(t, 15_000*0.011, float64(len(special)), 60, "as many as in dbgen's comments")
}

// TestSameForAllSizes makes records of different sizes, and another seed.
func TestSameForAllSizes(t *testing.T) {
	g, again := generator(t), generator(t)
	other, err := New(scale, 2)
	require.NoError(t, err)
	for _, of := range Tables {
		one := whole(t, g, of, 1<<30)
		require.True(t, array.RecordEqual(one, whole(t, again, of, 333)), of)
		require.False(t, array.RecordEqual(one, whole(t, other, of, 1<<30)), of)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, scale := range []float64{0, -1, 1e9} {
		_, err := New(scale, 1)
		require.ErrorIs(t, err, ErrScale)
	}
}

func TestRecordsStop(t *testing.T) {
	g := generator(t)
	for record, err := range g.Records(t.Context(), Orders, 100) {
		require.NoError(t, err)
		record.Release()
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var last error
	for record, err := range g.Records(ctx, Orders, 100) {
		if record != nil {
			record.Release()
		}
		last = err
	}
	require.ErrorIs(t, last, context.Canceled)
}

func TestParquet(t *testing.T) {
	g := generator(t)
	folder := filepath.Join(t.TempDir(), "made")
	require.NoError(t, g.WriteParquet(t.Context(), folder))
	for _, of := range Tables {
		r, err := file.OpenParquetFile(filepath.Join(folder, of.String()+"-000.parquet"), false)
		require.NoError(t, err)
		reader, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, arrowmemory.DefaultAllocator)
		require.NoError(t, err)
		table, err := reader.ReadTable(t.Context())
		require.NoError(t, err)
		record := whole(t, g, of, 1<<30)
		for i, c := range record.Columns() {
			require.Equal(t, of.Schema().Field(i).Name, table.Schema().Field(i).Name)
			require.True(t, array.ChunkedEqual(table.Column(i).Data(), arrow.NewChunked(c.DataType(), []arrow.Array{c})), "%v: %v", of, of.Schema().Field(i))
		}
		if of == Lineitem {
			require.Equal(t, parquet.Types.Int64, r.MetaData().Schema.Column(4).PhysicalType())
		}
		table.Release()
		require.NoError(t, r.Close())
	}
	require.Error(t, g.WriteParquet(t.Context(), filepath.Join(folder, "region-000.parquet", "below")))
	_, err := os.Stat(folder)
	require.NoError(t, err)
}
