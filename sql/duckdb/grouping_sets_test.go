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

// TestGroupingSetsOfFrames compares Rollup, Cube and GroupingSets of Go with the statements of DuckDB.
func TestGroupingSetsOfFrames(t *testing.T) {
	p := open(t, 5)
	q, _ := p.session.Table("a")
	x, id := gpuframe.Col("x"), func(keys []string) gpuframe.Expr {
		list := make([]gpuframe.Expression, len(keys))
		for i, k := range keys {
			list[i] = gpuframe.Col(k)
		}
		return gpuframe.GroupingID(list...).As("level")
	}
	random := rand.New(rand.NewPCG(5, 2))
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
		_, rows, err := collectText(t.Context(), groups.Agg(gpuframe.Count().As("n"), x.Sum().As("sum"), gpuframe.Col("s").CountDistinct().As("texts"), gpuframe.Col("m").Max().As("most"),
			gpuframe.Col("id").First().OrderBy(gpuframe.Col("id").Desc()).As("latest"), id(keys)))
		require.NoError(t, err, text)
		peer, err := p.theirs(text)
		require.NoError(t, err, text)
		require.ElementsMatch(t, peer, rows, text)
	}
}
