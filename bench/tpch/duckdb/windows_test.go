package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/answer"
	"github.com/gpuframe/gpuframe/bench/internal/duckdb"
)

// windowRows makes a random table as a record, and as SQL values: an id, a partition, an
// order key with ties, a float, an integer and a string; all but the id may be null.
func windowRows(g *rand.Rand, rows int) (arrow.Record, string) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "p", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "o", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "i", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	var lines []string
	for id := range rows {
		values := []string{
			strconv.Itoa(id), strconv.Itoa(g.IntN(5)), strconv.Itoa(g.IntN(rows/2 + 1)), strconv.FormatFloat(g.NormFloat64()*100+7, 'g', -1, 64),
			strconv.Itoa(g.IntN(2000) - 1000), string(rune('a' + g.IntN(20))),
		}
		texts := make([]string, len(values))
		for i, v := range values {
			if i > 0 && g.IntN(7) == 0 {
				b.Field(i).AppendNull()
				texts[i] = "null"
				continue
			}
			if err := b.Field(i).AppendValueFromString(v); err != nil {
				panic(err)
			}
			if texts[i] = v; i == 5 {
				texts[i] = "'" + v + "'"
			}
		}
		lines = append(lines, "("+strings.Join(texts, ", ")+")")
	}
	return b.NewRecord(), strings.Join(lines, ",\n")
}

// peerOf opens a DuckDB with the rows of windowRows.
func peerOf(t *testing.T, values string) *duckdb.Peer {
	p, err := duckdb.Open(0)
	require.NoError(t, err)
	require.NoError(t, p.Execute("create table t(id bigint, p int, o bigint, f double, i int, s varchar)"))
	require.NoError(t, p.Execute("insert into t values "+values))
	return p
}

// TestWindows compares functions of windows with those of DuckDB, for random tables.
func TestWindows(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	g := rand.New(rand.NewPCG(seed, 1))
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	for _, rows := range []int{1, 10, 300, 5000} {
		record, values := windowRows(g, rows)
		p := peerOf(t, values)
		compareWindows(t, g, e, p, record)
		require.NoError(t, p.Close())
		record.Release()
	}
}

func compareWindows(t *testing.T, g *rand.Rand, e *gpuframe.Engine, p *duckdb.Peer, record arrow.Record) {
	f, i, s, o := gpuframe.Col("f"), gpuframe.Col("i"), gpuframe.Col("s"), gpuframe.Col("o")
	for round := range 8 {
		key, text := o.Asc(), "order by o nulls last, id"
		if round%2 == 1 {
			key, text = o.Desc().NullsFirst(), "order by o desc nulls first, id"
		}
		by, partition := gpuframe.By(gpuframe.Col("p")), "partition by p "
		if round%4 > 1 {
			by, partition = gpuframe.By(), ""
		}
		// Both have one order of all rows; peers and ranges need the key alone.
		unique, ties := by.OrderBy(key, gpuframe.Col("id")), by.OrderBy(key)
		over := "over (" + partition + text
		overTies := "over (" + partition + strings.TrimSuffix(text, ", id")
		low := g.IntN(12) - 9
		high := low + g.IntN(12)
		rows := fmt.Sprintf(" rows between %s and %s)", bound(low), bound(high))
		span := g.IntN(10)
		ranged := fmt.Sprintf(" range between %d preceding and %d following)", span, span/2)
		framed, inRange, upTo := unique.Rows(int64(low), int64(high)), ties.Range(-span, span/2), unique.Rows(gpuframe.FirstRow, 0)
		cases := []struct {
			of  gpuframe.Expr
			sql string
		}{
			{gpuframe.RowNumber().Over(unique), "row_number() " + over + ")"},
			{gpuframe.Rank().Over(ties), "rank() " + overTies + ")"},
			{gpuframe.DenseRank().Over(ties), "dense_rank() " + overTies + ")"},
			{gpuframe.PercentRank().Over(ties), "percent_rank() " + overTies + ")"},
			{gpuframe.CumulativeDistribution().Over(ties), "cume_dist() " + overTies + ")"},
			{gpuframe.Tile(7).Over(unique), "ntile(7) " + over + ")"},
			{s.Lag(2).Over(unique), "lag(s, 2) " + over + ")"},
			{f.Lead(1).Over(unique), "lead(f) " + over + ")"},
			{s.First().Over(framed), "first_value(s) " + over + rows},
			{i.Last().Over(framed), "last_value(i) " + over + rows},
			{i.Nth(3).Over(framed), "nth_value(i, 3) " + over + rows},
			{s.First().SkipNulls().Over(framed), "first_value(s ignore nulls) " + over + rows},
			{i.Last().SkipNulls().Over(framed), "last_value(i ignore nulls) " + over + rows},
			{i.Nth(3).SkipNulls().Over(framed), "nth_value(i, 3 ignore nulls) " + over + rows},
			{i.Lag(2).SkipNulls().Over(unique), "lag(i, 2 ignore nulls) " + over + ")"},
			{s.Lead(1).SkipNulls().Over(unique), "lead(s ignore nulls) " + over + ")"},
			{i.CumSum().Over(unique), "sum(i) " + over + " rows unbounded preceding)"},
			{f.CumSum().Over(unique), "sum(f) " + over + " rows unbounded preceding)"},
			{f.CumMin().Over(unique), "min(f) " + over + " rows unbounded preceding)"},
			{f.Mean().Over(upTo), "avg(f) " + over + " rows unbounded preceding)"},
			{f.Sum().Over(framed), "sum(f) " + over + rows},
			{i.Sum().Over(framed), "sum(i) " + over + rows},
			{f.Mean().Over(framed), "avg(f) " + over + rows},
			{f.Min().Over(framed), "min(f) " + over + rows},
			{i.Max().Over(framed), "max(i) " + over + rows},
			{f.Count().Over(framed), "count(f) " + over + rows},
			{f.Variance().Over(framed), "var_samp(f) " + over + rows},
			{f.StdDev().Over(framed), "stddev_samp(f) " + over + rows},
			{f.Median().Over(framed), "median(f) " + over + rows},
			{f.Quantile(0.9).Over(framed), "quantile_cont(f, 0.9) " + over + rows},
			{f.Mean().Over(inRange), "avg(f) " + overTies + ranged},
			{i.Sum().Over(inRange), "sum(i) " + overTies + ranged},
			{f.Max().Over(inRange), "max(f) " + overTies + ranged},
			{gpuframe.Count().Over(inRange), "count(*) " + overTies + ranged},
		}
		list, texts := []gpuframe.Expression{gpuframe.Col("id")}, []string{"id"}
		for n, c := range cases {
			list = append(list, c.of.As(fmt.Sprint("x", n)))
			texts = append(texts, c.sql)
		}
		frame, err := e.Records(record.Schema(), record).Select(list).Collect(t.Context())
		require.NoError(t, err)
		got, err := frame.Record(t.Context())
		require.NoError(t, err)
		want, err := p.Answer("select " + strings.Join(texts, ", ") + " from t order by id")
		require.NoError(t, err)
		for row := range want.Rows {
			for n, text := range want.Rows[row] {
				c := got.Column(n)
				require.True(t, sameValue(c.ValueStr(row), c.IsNull(row), text), "%s\nrow %d: %s, DuckDB %s", texts[n], row, c.ValueStr(row), text)
			}
		}
		require.EqualValues(t, len(want.Rows), got.NumRows())
		got.Release()
		require.NoError(t, frame.Release())
	}
}

// sameValue compares texts, and numbers to a relative 10⁻⁹.
func sameValue(got string, isNull bool, want string) bool {
	if isNull || want == answer.Null {
		return isNull && want == answer.Null
	}
	x, xErr := strconv.ParseFloat(got, 64)
	y, yErr := strconv.ParseFloat(want, 64)
	if xErr != nil || yErr != nil {
		return got == want
	}
	return math.Abs(x-y) <= 1e-9*math.Max(math.Abs(y), 1)
}

// bound is a row of a frame in SQL.
func bound(n int) string {
	switch {
	case n < 0:
		return fmt.Sprintf("%d preceding", -n)
	case n > 0:
		return fmt.Sprintf("%d following", n)
	}
	return "current row"
}
