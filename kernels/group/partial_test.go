package group_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// partials returns the partial results of parts of a table. Every other one goes to the
// host and back.
func partials(t *testing.T, mgr *memory.Manager, table *buffer.Buffer, keys []string, aggregates []group.Aggregate, ends ...int64) []*buffer.Buffer {
	t.Helper()
	var made []*buffer.Buffer
	begin := int64(0)
	for i, end := range ends {
		part, err := table.Slice(begin, end-begin)
		require.NoError(t, err)
		partial, err := group.By(part, group.Columns(keys...)...).Partial(t.Context(), aggregates, group.ByOptions{FirstRow: begin})
		require.NoError(t, err)
		require.NoError(t, part.Release())
		if i%2 == 1 {
			record, err := partial.Record(t.Context())
			require.NoError(t, err)
			require.NoError(t, partial.Release())
			partial, err = buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			record.Release()
		}
		t.Cleanup(func() { require.NoError(t, partial.Release()) })
		made, begin = append(made, partial), end
	}
	return made
}

// TestPartialsMerge requires that merged partial results are those of the whole table.
func TestPartialsMerge(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		for i, of := range valueTypes {
			if brief(mgr) && i%4 != 0 { // bool, unsigned and decimal
				continue
			}
			t.Run(fmt.Sprint(of), func(t *testing.T) {
				g := arraytest.NewGenerator(uint64(i))
				g.Nulls = arraytest.SomeNull
				d := draw(t, mgr, g, []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String}, of, 3, 120)
				aggregates := []group.Aggregate{group.CountDistinct(expr.Col("v"), expr.Col("w"))}
				if arrow.TypeEqual(of, arrow.FixedWidthTypes.Boolean) || number(of) { // always
					aggregates = append(aggregates, group.ArgMin(expr.Col("v")).As("least"), group.ArgMax(expr.Col("v")).Where(expr.Col("w")).As("most"))
				}
				for _, m := range d.choose(modelAggregates) {
					aggregates = append(aggregates, m.made())
				}
				if number(of) {
					aggregates = append(aggregates, group.Sum(expr.Col("v")), group.Mean(expr.Col("v")), group.StdDev(expr.Col("v"), 1),
						group.Skewness(expr.Col("v")), group.Kurtosis(expr.Col("v")), group.Correlation(expr.Col("v"), expr.Col("v")), group.Covariance(expr.Col("v"), expr.Col("v"), 0))
				}
				options := group.ByOptions{Order: group.FirstAppearance}
				whole, err := group.By(d.table, group.Columns("k0", "k1")...).Aggregate(t.Context(), aggregates, options)
				require.NoError(t, err)
				want := columntest.Fetch(t, whole)
				parts := partials(t, mgr, d.table, []string{"k0", "k1"}, aggregates, 40, 40, 41, 120)
				if i%2 == 0 { // the first three become one
					combined, err := group.Combine(t.Context(), d.table.Schema(), parts[:3], aggregates)
					require.NoError(t, err)
					t.Cleanup(func() { require.NoError(t, combined.Release()) })
					parts = []*buffer.Buffer{combined, parts[3]}
				}
				merged, err := group.Merge(t.Context(), d.table.Schema(), parts, aggregates, options)
				require.NoError(t, err)
				got := columntest.Fetch(t, merged)
				require.True(t, want.Schema().Equal(got.Schema()), "%v\n%v", want.Schema(), got.Schema())
				for c := range int(want.NumCols()) {
					require.Equal(t, resultTexts(t, want.Column(c)), resultTexts(t, got.Column(c)), "%s", want.ColumnName(c))
				}
			})
		}
	})
}

// TestPartialsOfSomeRows merges partial results of a query with a condition, which most rows meet: it
// becomes one of the aggregates, but no column of the partial result.
func TestPartialsOfSomeRows(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		g := arraytest.NewGenerator(3)
		g.Nulls = arraytest.SomeNull
		d := draw(t, mgr, g, []arrow.DataType{arrow.BinaryTypes.String}, arrow.BinaryTypes.String, 3, 120)
		v := expr.Col("v")
		aggregates := []group.Aggregate{
			group.First(v), group.Last(v), group.First(v).SkipNulls(), group.Last(v).Where(expr.Col("w")), group.First(v).Where(expr.Col("w")).SkipNulls(), group.CountAll(),
		}
		ctx := strategy.WithGroup(t.Context(), strategy.Group{MaskedRows: 1})
		rows := func(table *buffer.Buffer) group.Query {
			return group.By(table, group.Columns("k0")...).Where(v.IsNull().Or(v.LengthBytes().Ge(expr.Lit(1))))
		}
		options := group.ByOptions{Order: group.ByKey}
		whole, err := rows(d.table).Aggregate(ctx, aggregates, options)
		require.NoError(t, err)
		want := columntest.Fetch(t, whole)
		var parts []*buffer.Buffer
		for begin := int64(0); begin < 120; begin += 40 {
			part, err := d.table.Slice(begin, 40)
			require.NoError(t, err)
			partial, err := rows(part).Partial(ctx, aggregates)
			require.NoError(t, err)
			require.NoError(t, part.Release())
			t.Cleanup(func() { require.NoError(t, partial.Release()) })
			parts = append(parts, partial)
		}
		merged, err := group.Merge(ctx, d.table.Schema(), parts, aggregates, options)
		require.NoError(t, err)
		got := columntest.Fetch(t, merged)
		for c := range int(want.NumCols()) {
			require.Equal(t, resultTexts(t, want.Column(c)), resultTexts(t, got.Column(c)), "%s", want.ColumnName(c))
		}
	})
}

// TestFloatPartialsMerge merges states of floats with exponents far apart.
func TestFloatPartialsMerge(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		r, left := rand.New(rand.NewPCG(5, 6)), len(draws)
		if brief(mgr) {
			left = 2
		}
		for name, next := range property.InOrder(draws) {
			if left--; left < 0 {
				break
			}
			const n = 300
			keys, x := make([]int32, n), make([]float64, n)
			for i := range x {
				keys[i], x[i] = int32(r.IntN(3)), next(r)
			}
			table := floatTable(t, mgr, keys, x, x)
			aggregates := []group.Aggregate{group.Sum(expr.Col("x")), group.Mean(expr.Col("x")), group.Variance(expr.Col("x"), 0), group.Skewness(expr.Col("x")), group.KurtosisPop(expr.Col("x"))}
			options := group.ByOptions{Order: group.FirstAppearance}
			whole, err := group.By(table, group.Columns("k")...).Aggregate(t.Context(), aggregates, options)
			require.NoError(t, err)
			want := columntest.Fetch(t, whole)
			merged, err := group.Merge(t.Context(), table.Schema(), partials(t, mgr, table, []string{"k"}, aggregates, 7, 100, n), aggregates, options)
			require.NoError(t, err)
			got := columntest.Fetch(t, merged)
			for c := range int(want.NumCols()) {
				require.Equal(t, resultTexts(t, want.Column(c)), resultTexts(t, got.Column(c)), "%s: %s", name, want.ColumnName(c))
			}
		}
	})
}

func TestTransform(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		g := arraytest.NewGenerator(11)
		d := draw(t, mgr, g, []arrow.DataType{arrow.BinaryTypes.String}, arrow.PrimitiveTypes.Int64, 4, 90)
		for _, filtered := range []bool{false, true} {
			query, takes := group.By(d.table, group.Columns("k0")...), func(int) bool { return true }
			if filtered {
				query = query.Where(expr.Col("w"))
				takes = func(row int) bool { return d.where.IsValid(row) && d.where.Value(row) }
			}
			made, err := query.Transform(t.Context(), []group.Aggregate{group.CountAll().As("n"), group.Max(expr.Col("v")).As("most")})
			require.NoError(t, err)
			record := columntest.Fetch(t, made)
			require.EqualValues(t, 90, record.NumRows())
			_, groups := rowsOf(keyTexts(d.keys), takes)
			counts, most := columntest.Texts(record.Column(3)), columntest.Texts(record.Column(4))
			for row, key := range keyTexts(d.keys) {
				if !takes(row) {
					require.Equal(t, []string{isNull, isNull}, []string{counts[row], most[row]})
					continue
				}
				var rows []int
				for _, of := range groups[key] {
					if d.value.has(of) {
						rows = append(rows, of)
					}
				}
				require.Equal(t, fmt.Sprint(len(groups[key])), counts[row])
				require.Equal(t, d.value.extremeText(rows, -1), most[row])
			}
		}
	})
}

func TestPivot(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		table := floatTable(t, mgr, []int32{1, 2, 1, 1}, []float64{1, 2, 3, 4}, []float64{10, 10, 20, 10})
		made, err := group.By(table, group.Columns("k")...).Pivot(t.Context(), expr.Col("y"), []any{10.0, 20.0}, group.Sum(expr.Col("x")), group.ByOptions{Order: group.FirstAppearance})
		require.NoError(t, err)
		record := columntest.Fetch(t, made)
		require.Equal(t, []string{"10", "20"}, []string{record.ColumnName(1), record.ColumnName(2)})
		require.Equal(t, []string{"5", "2"}, resultTexts(t, record.Column(1)))
		require.Equal(t, []string{"3", isNull}, resultTexts(t, record.Column(2)))
	})
}

// TestAggregateRefusals requires errors that name the key or the aggregate.
func TestAggregateRefusals(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	table := floatTable(t, mgr, []int32{1, 2}, []float64{1, 2}, []float64{3, 4})
	x, k := expr.Col("x"), expr.Col("k")
	for _, c := range []struct {
		query      group.Query
		aggregates []group.Aggregate
		options    group.ByOptions
		cause      error
		text       string
	}{
		{group.By(table), []group.Aggregate{group.CountAll()}, group.ByOptions{}, device.ErrInvalidValue, "no key"},
		{group.By(table, group.Columns("z")...), []group.Aggregate{group.CountAll()}, group.ByOptions{}, buffer.ErrSchema, `key 0, "z"`},
		{group.By(table, group.Key{}), []group.Aggregate{group.CountAll()}, group.ByOptions{}, device.ErrInvalidValue, "0 of Column, Expr and Values are set"},
		{group.By(table, group.Columns("k")...), nil, group.ByOptions{}, device.ErrInvalidValue, "no aggregate"},
		{group.By(table, group.Columns("k")...), []group.Aggregate{{}}, group.ByOptions{}, device.ErrInvalidValue, "aggregate 0, none()"},
		{group.By(table, group.Columns("k")...), []group.Aggregate{group.CountAll(), group.Product(x)}, group.ByOptions{}, device.ErrNotSupported, "aggregate 1, product(x)"},
		{group.By(table, group.Columns("k")...), []group.Aggregate{group.Any(x)}, group.ByOptions{}, device.ErrNotSupported, "any(x)"},
		{group.By(table, group.Columns("k")...), []group.Aggregate{group.Sum(x).Where(k)}, group.ByOptions{}, device.ErrInvalidValue, "expected bool"},
		{group.By(table, group.Columns("k")...), []group.Aggregate{group.Quantile(x, 2)}, group.ByOptions{}, device.ErrInvalidValue, "expected 0 to 1"},
		{group.By(table, group.Columns("k")...), []group.Aggregate{group.Largest(x, -1)}, group.ByOptions{}, device.ErrInvalidValue, "largest(x, -1)"},
		{group.By(table, group.Columns("k")...), []group.Aggregate{group.Variance(x, -1)}, group.ByOptions{}, device.ErrInvalidValue, "degrees of freedom"},
		{group.By(table, group.Columns("k")...), []group.Aggregate{group.CountAll()}, group.ByOptions{MaxGroups: -1}, device.ErrInvalidValue, "MaxGroups"},
		{group.By(table, group.Columns("k")...), []group.Aggregate{group.CountAll()}, group.ByOptions{MaxGroups: 1}, buffer.ErrRows, "2 groups"},
		{group.By(table, group.Columns("k")...), []group.Aggregate{group.CountAll()}, group.ByOptions{FirstRow: -2}, device.ErrInvalidValue, "FirstRow is -2"},
		{group.By(table, group.Columns("k")...), []group.Aggregate{group.CountAll()}, group.ByOptions{Order: 9}, device.ErrInvalidValue, "Order is 9"},
	} {
		_, err := c.query.Aggregate(t.Context(), c.aggregates, c.options)
		require.ErrorIs(t, err, c.cause, c.text)
		require.ErrorContains(t, err, c.text)
		require.ErrorContains(t, err, "group: aggregate: ")
	}
	_, err := group.Merge(t.Context(), table.Schema(), []*buffer.Buffer{table}, []group.Aggregate{group.Sum(x)})
	require.ErrorIs(t, err, buffer.ErrSchema)
	_, err = group.Merge(t.Context(), table.Schema(), nil, []group.Aggregate{group.Sum(x)})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	var named *group.AggregateError
	_, err = group.By(table, group.Columns("k")...).Aggregate(t.Context(), []group.Aggregate{group.Sum(expr.Col("q"))})
	require.ErrorAs(t, err, &named)
	require.ErrorIs(t, err, buffer.ErrSchema)
}
