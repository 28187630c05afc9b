package gpuframe_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// stateRow is a row of the tests of merged states. Keys and values may be null.
type stateRow struct {
	A *string
	B *int32
	C int32
	X *float64
	V int64
	F bool
	T *string
}

// mergedStatesPass is the pass of the optimizer that merges the states of grouping sets.
const mergedStatesPass = "merge sets"

// stateAggregates are aggregates whose states are merged.
func stateAggregates() []gpuframe.Expression {
	x, v, f, text := gpuframe.Col("X"), gpuframe.Col("V"), gpuframe.Col("F"), gpuframe.Col("T")
	cents := v.Cast(&arrow.Decimal128Type{Precision: 20, Scale: 2})
	return []gpuframe.Expression{
		gpuframe.Count().As("n"), x.Count().As("values"), x.Sum().As("sum"), x.Mean().As("mean"), x.Variance().As("variance"), x.Skewness().As("skewness"),
		x.Min().As("least"), v.Sum().As("total"), v.Max().As("most"), cents.Sum().As("cents"), f.Any().As("any"), f.All().As("all"), gpuframe.Correlation(x, v).As("correlation"),
		text.Min().As("first text"), x.Sum().Where(v.Gt(0)).As("positive"), v.Mul(2).Sum().Div(gpuframe.Count()).As("ratio"),
	}
}

// drawStateRows returns rows of which each key has some values.
func drawStateRows(t *testing.T, n, values int) []stateRow {
	random := property.Random(t)
	rows := make([]stateRow, n)
	for i := range rows {
		a, b, x, text := string(rune('a'+random.IntN(values))), random.Int32N(int32(values)), random.NormFloat64()*math.Pow(10, float64(random.IntN(20))), string(rune('k'+random.IntN(9)))
		rows[i] = stateRow{C: random.Int32N(int32(values)), V: random.Int64N(2000) - 1000, F: random.IntN(5) > 0}
		if random.IntN(8) > 0 {
			rows[i].A, rows[i].X = &a, &x
		}
		if random.IntN(8) > 0 {
			rows[i].B, rows[i].T = &b, &text
		}
	}
	return rows
}

// stateQueries are groupings by sets of keys.
func stateQueries(q gpuframe.Query) map[string]gpuframe.Grouped {
	return map[string]gpuframe.Grouped{
		"rollup": q.Rollup("A", "B", "C"), "cube": q.Cube("C", "A", "B"), "apart": q.GroupingSets([]string{"A", "B"}, []string{"C"}, []string{"B"}, []string{"A", "B"}, nil),
		"computed": q.Rollup(gpuframe.Col("C").Mod(2).As("odd"), "A"),
	}
}

// TestStatesOfSets compares sets whose states are merged with sets that each group the rows, to the bit.
func TestStatesOfSets(t *testing.T) {
	for _, test := range []struct{ rows, values int }{{0, 3}, {1, 3}, {300, 3}, {200, 20}} { // in the last one, the rows are grouped for each set
		devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
			q := gpuframe.From(engineOn(t, dev), drawStateRows(t, test.rows, test.values))
			for name, grouped := range stateQueries(q.Filter(gpuframe.Col("V").Gt(-900))) {
				requireSameSets(t, grouped.Agg(stateAggregates()...), name)
			}
		})
	}
}

// requireSameSets compares a query with and without merged states.
func requireSameSets(t *testing.T, q gpuframe.Query, name string) {
	t.Helper()
	requireSameRows(t, q, "group by sets", name)
}

// requireSameRows compares a query that has a node with its plan without merged states.
func requireSameRows(t *testing.T, q gpuframe.Query, node, name string) {
	t.Helper()
	apart, err := q.Without(t.Context(), mergedStatesPass)
	require.NoError(t, err)
	require.NotContains(t, apart.ExplainPlan(), "group by sets", name)
	merged, err := q.Without(t.Context())
	require.NoError(t, err)
	require.Contains(t, merged.ExplainPlan(), node, name)
	want, got := lines(t, apart), lines(t, merged)
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got, name)
}

// TestStatesOfSetsOfBatches merges states of several tables, with much and little memory.
func TestStatesOfSetsOfBatches(t *testing.T) {
	rows := drawStateRows(t, 4000, 4)
	for _, budget := range []uint64{1 << 30, 12 << 20} {
		e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(budget))
		require.NoError(t, err)
		var parts []gpuframe.Query
		for part := range slices.Chunk(rows, 300) {
			parts = append(parts, gpuframe.From(e, part))
		}
		for name, grouped := range stateQueries(parts[0].Union(parts[1:]...)) {
			requireSameSets(t, grouped.Agg(stateAggregates()...), name)
		}
		requireNothing(t, e, "the queries")
		require.NoError(t, e.Close())
	}
}

// TestStatesOfSetsOnDevices gathers the states of several devices, and divides many groups.
func TestStatesOfSetsOnDevices(t *testing.T) {
	rows := drawStateRows(t, 4000, 4)
	for node, least := range map[string]int64{"group by sets": 3000, "shuffle among 3 devices": 0} {
		var names []string
		for _, dev := range devicetest.Hosts(t, 3) {
			names = append(names, dev.Name())
		}
		e, err := gpuframe.Open(gpuframe.Devices(names...), gpuframe.DivideFrom(least))
		require.NoError(t, err)
		for name, grouped := range stateQueries(gpuframe.From(e, rows)) {
			wanted := node
			if name == "apart" && least > 0 { // two groupings read the rows
				wanted = "union of"
			}
			requireSameRows(t, grouped.Agg(stateAggregates()...), wanted, name)
		}
		requireNothing(t, e, "the queries")
		require.NoError(t, e.Close())
	}
}

// TestStatesOfSetsArePruned reads some of the columns.
func TestStatesOfSetsArePruned(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	q := gpuframe.From(e, drawStateRows(t, 500, 3)).Rollup("A", "B").Agg(stateAggregates()...)
	for _, names := range [][]string{{"total"}, {"A"}, {"B", "n", "cents"}} {
		requireSameSets(t, q.Select(names), "selected")
	}
	count, err := q.Select(gpuframe.Count()).Without(t.Context())
	require.NoError(t, err)
	require.Contains(t, count.ExplainPlan(), "group by sets")
	apart, err := q.Select(gpuframe.Count()).Without(t.Context(), mergedStatesPass)
	require.NoError(t, err)
	require.Equal(t, lines(t, apart), lines(t, count))
}

// TestSetsWithoutStates has aggregates that depend on the order of the rows or have lists as states.
func TestSetsWithoutStates(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	rolled := gpuframe.From(e, drawStateRows(t, 100, 3)).Rollup("A", "B")
	for _, a := range []gpuframe.Expr{gpuframe.Col("V").First(), gpuframe.Col("V").CountDistinct(), gpuframe.Col("X").Median(), gpuframe.Col("V").List()} {
		plan, err := rolled.Agg(a.As("value")).Without(t.Context())
		require.NoError(t, err)
		require.NotContains(t, plan.ExplainPlan(), "group by sets")
	}
	plan, err := rolled.DropNulls().Agg(gpuframe.Count().As("n")).Without(t.Context())
	require.NoError(t, err)
	require.NotContains(t, plan.ExplainPlan(), "group by sets")
}

// BenchmarkSets prints the processor time of sets with merged states and with sets that each group the rows.
func BenchmarkSets(b *testing.B) {
	for _, values := range []int32{10, 30, 100} {
		e, err := gpuframe.Open(gpuframe.Device("host"))
		require.NoError(b, err)
		defer func() { require.NoError(b, e.Close()) }()
		type row struct {
			A, B, C, D int32
			V          int64
			X          float64
		}
		random := rand.New(rand.NewPCG(1, 2))
		rows := make([]row, 1_000_000)
		key := func() int32 { return random.Int32N(values) }
		for i := range rows {
			rows[i] = row{key(), key(), key(), random.Int32N(4), random.Int64N(1000), random.Float64()}
		}
		table, err := gpuframe.From(e, rows).Collect(b.Context())
		require.NoError(b, err)
		defer func() { require.NoError(b, table.Release()) }()
		q, v, x := table.Query(), gpuframe.Col("V"), gpuframe.Col("X")
		for _, test := range []struct {
			name    string
			grouped gpuframe.Grouped
		}{{"rollup of 3", q.Rollup("A", "B", "C")}, {"cube of 4", q.Cube("A", "B", "C", "D")}} {
			aggregated := test.grouped.Agg(gpuframe.Count().As("n"), v.Sum().As("total"), x.Sum().As("sum"), x.Mean().As("mean"), v.Max().As("most"))
			for way, without := range [][]string{{mergedStatesPass}, nil} {
				planned, err := aggregated.Without(b.Context(), without...)
				require.NoError(b, err)
				warm, err := planned.Collect(b.Context())
				require.NoError(b, err)
				require.NoError(b, warm.Release())
				b.Run(fmt.Sprintf("%s, %d values, %s", test.name, values, []string{"apart", "merged"}[way]), func(b *testing.B) {
					start := processor.Time()
					for b.Loop() {
						f, err := planned.Collect(b.Context())
						require.NoError(b, err)
						b.ReportMetric(float64(f.NumRows()), "rows")
						require.NoError(b, f.Release())
					}
					b.ReportMetric((processor.Time()-start).Seconds()*1e3/float64(b.N), "cpu-ms/op")
				})
			}
		}
	}
}
