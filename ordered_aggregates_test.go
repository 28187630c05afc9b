package gpuframe_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// sortedBy returns rows in an order. Equal ones keep theirs.
func (e ends) sortedBy(compare func(a, b nullableRow) int) ends {
	rows := slices.Clone(e.rows)
	slices.SortStableFunc(rows, compare)
	return ends{rows}
}

// byText has the nulls, which are empty, last.
func byText(a, b nullableRow) int {
	if (a.text == "") != (b.text == "") {
		return cmp.Compare(b.text, a.text)
	}
	return cmp.Compare(a.text, b.text)
}

// TestOrderedAggregates compares aggregates of several orders with a model: in groups, of all rows and as windows, on
// each device.
func TestOrderedAggregates(t *testing.T) {
	text, id, take := gpuframe.Col("text"), gpuframe.Col("id"), gpuframe.Col("take")
	later := id.Mod(7)
	aggregates := []gpuframe.Expression{
		text.First().OrderBy(later, id.Desc()).As("a"), text.Last().OrderBy(text).As("b"), text.List().OrderBy(text).As("c"), text.First().As("d"),
		text.List().SkipNulls().OrderBy(later.Desc()).Where(take).As("e"), gpuframe.Count().As("f"), text.JoinStrings("-").OrderBy(id.Desc()).As("g"),
		text.List().OrderBy(text.Desc()).ListUnique().ListLength().As("h"), id.Sum().As("i"),
	}
	want := func(e ends) string {
		byLater := func(a, b nullableRow) int { return cmp.Compare(a.id%7, b.id%7) }
		reversed := e.sortedBy(func(a, b nullableRow) int { return b.id - a.id })
		var joined []string
		distinct, sum := map[string]bool{}, 0
		for _, row := range reversed.rows {
			if distinct[row.text], sum = true, sum+row.id; row.text != "" {
				joined = append(joined, row.text)
			}
		}
		return strings.Join([]string{
			reversed.sortedBy(byLater).first(), e.sortedBy(byText).last(), e.sortedBy(byText).list(), e.first(),
			e.taken().values().sortedBy(func(a, b nullableRow) int { return -byLater(a, b) }).list(), fmt.Sprint(len(e.rows)), nullText(strings.Join(joined, "-")),
			fmt.Sprint(len(distinct)), fmt.Sprint(sum),
		}, "|") + "|"
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e, random := engineOn(t, dev), property.Random(t)
		n := 3000
		if dev.Name() != "host" || testing.Short() {
			n = 300
		}
		rows, records := nullableRows(t, random, n, 20)
		q := e.Records(nil, records...)
		grouped := q.GroupBy(gpuframe.Col("key")).Agg(aggregates...).Sort(gpuframe.Col("key"))
		groups := map[int]ends{}
		for _, row := range rows {
			groups[row.key] = ends{append(groups[row.key].rows, row)}
		}
		var expected []string
		for key := range 20 {
			if g, ok := groups[key]; ok {
				expected = append(expected, fmt.Sprint(key, "|", want(g)))
			}
		}
		require.Equal(t, expected, lines(t, grouped))
		require.Equal(t, []string{want(ends{rows})}, lines(t, q.Select(aggregates)))
		first := text.First().OrderBy(id.Desc())
		windows := q.Select(id, first.As("a"), first.Over(gpuframe.By(gpuframe.Col("key"))).As("b")).Head(1)
		reversed := func(e ends) ends { return e.sortedBy(func(a, b nullableRow) int { return b.id - a.id }) }
		require.Equal(t, []string{"0|" + reversed(ends{rows}).first() + "|" + reversed(groups[rows[0].key]).first() + "|"}, lines(t, windows))
	})
}

// TestOrderOfSums refuses an order of aggregates that have none.
func TestOrderOfSums(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	q := gpuframe.From(e, []struct{ X int64 }{{1}})
	x := gpuframe.Col("X")
	_, err := q.Select(x.Sum().OrderBy(x)).Collect(t.Context())
	require.ErrorContains(t, err, "sum does not depend on the order of the rows: leave out OrderBy")
	_, err = q.Select(x.OrderBy(x)).Collect(t.Context())
	require.ErrorContains(t, err, "OrderBy applies to aggregates")
	_, err = q.Select(x.First().OrderBy(x.Sum())).Collect(t.Context())
	require.ErrorContains(t, err, "has an aggregate")
}
