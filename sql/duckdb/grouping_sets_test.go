package duckdb

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// stateAggregates are aggregates whose states are merged, in Go and in SQL. Both are exact.
var stateAggregates = []struct {
	aggregate gpuframe.Expr
	text      string
}{
	{gpuframe.Count(), "count(*)"},
	{gpuframe.Col("x").Count(), "count(x)"},
	{gpuframe.Col("x").Sum(), "sum(x)"},
	{gpuframe.Col("m").Sum(), "sum(m)"},
	{gpuframe.Col("m").Max(), "max(m)"},
	{gpuframe.Col("y").Min(), "min(y)"},
	{gpuframe.Col("s").Max(), "max(s)"},
	{gpuframe.Col("d").Min(), "min(d)"},
	{gpuframe.Col("f").Any(), "bool_or(f)"},
	{gpuframe.Col("f").All(), "bool_and(f)"},
	{gpuframe.Col("x").Sum().Where(gpuframe.Col("id").Gt(7)), "sum(x) filter (where id > 7)"},
	{gpuframe.Col("x").BitwiseXor(), "bit_xor(x)"},
}

// TestGroupingSetsOfFrames compares Rollup, Cube and GroupingSets of Go with the statements of DuckDB: with aggregates whose states
// are merged, and with others.
func TestGroupingSetsOfFrames(t *testing.T) {
	for seed := range 6 {
		compareGroupingSets(t, uint64(5+seed), seed > 0)
	}
}

func compareGroupingSets(t *testing.T, seed uint64, merged bool) {
	p := open(t, seed)
	q, _ := p.session.Table("a")
	x, id := gpuframe.Col("x"), func(keys []string) gpuframe.Expr {
		list := make([]gpuframe.Expression, len(keys))
		for i, k := range keys {
			list[i] = gpuframe.Col(k)
		}
		return gpuframe.GroupingID(list...).As("level")
	}
	random := rand.New(rand.NewPCG(seed, 2))
	for range 60 {
		keys := []string{"k", "s", "d", "f", "m", "y"}
		random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		keys = keys[:1+random.IntN(3)]
		listed := strings.Join(keys, ", ")
		groups, clause := q.Rollup(keys), "rollup("+listed+")"
		switch random.IntN(3) {
		case 0:
			groups, clause = q.Cube(keys), "cube("+listed+")"
		case 1:
			sets, texts := [][]string{keys}, []string{"(" + listed + ")"}
			for range random.IntN(4) {
				set := slices.Clone(keys[:random.IntN(len(keys)+1)])
				sets, texts = append(sets, set), append(texts, "("+strings.Join(set, ", ")+")")
			}
			groups, clause = q.GroupingSets(sets...), "grouping sets ("+strings.Join(texts, ", ")+")"
		}
		text := fmt.Sprintf("select %s, count(*), sum(x), count(distinct s), max(m), first(id order by id desc), grouping(%s) from a group by %s", listed, listed, clause)
		aggregates := []gpuframe.Expression{gpuframe.Count().As("n"), x.Sum().As("sum"), gpuframe.Col("s").CountDistinct().As("texts"), gpuframe.Col("m").Max().As("most"),
			gpuframe.Col("id").First().OrderBy(gpuframe.Col("id").Desc()).As("latest"), id(keys)}
		if merged {
			aggregates, text = nil, "select "+listed
			for i := range 1 + random.IntN(4) {
				a := stateAggregates[random.IntN(len(stateAggregates))]
				aggregates, text = append(aggregates, a.aggregate.As(fmt.Sprint("value ", i))), text+", "+a.text
			}
			aggregates, text = append(aggregates, id(keys)), fmt.Sprintf("%s, grouping(%s) from a group by %s", text, listed, clause)
		}
		_, rows, err := collectText(t.Context(), groups.Agg(aggregates...))
		require.NoError(t, err, text)
		peer, err := p.theirs(text)
		require.NoError(t, err, text)
		require.ElementsMatch(t, peer, rows, text)
	}
}
