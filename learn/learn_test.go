package learn_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/learn"
)

// row is a row of the tests.
type row struct {
	ID   int64
	City *string
	Shop *int32
	X    *float64
	Y    float64
}

// random returns rows of which some values are null.
func random(n int, seed uint64) []row {
	r := rand.New(rand.NewPCG(seed, 1))
	rows := make([]row, n)
	cities := []string{"Oslo", "Bern", "Rome", "Wien"}
	for i := range rows {
		rows[i] = row{ID: int64(i), Y: math.Round(r.NormFloat64() * 100)}
		if r.IntN(8) > 0 {
			rows[i].City = &cities[r.IntN(len(cities))]
		}
		if shop := int32(r.IntN(5)); r.IntN(8) > 0 {
			rows[i].Shop = &shop
		}
		if x := math.Round(r.ExpFloat64() * 1000); r.IntN(8) > 0 {
			rows[i].X = &x
		}
	}
	return rows
}

// each runs a test on each device.
func each(t *testing.T, f func(t *testing.T, e *gpuframe.Engine)) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e, err := gpuframe.Open(gpuframe.Device(dev.Name()))
		require.NoError(t, err)
		t.Cleanup(func() {
			require.Zero(t, e.Manager().Stats().InUse)
			require.NoError(t, e.Close())
		})
		f(t, e)
	})
}

// column runs a query and returns a column.
func column[T any](t *testing.T, q gpuframe.Query, name string) []T {
	t.Helper()
	f, err := q.Collect(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Release()) }()
	list, err := gpuframe.Column[T](t.Context(), f, name)
	require.NoError(t, err)
	return list
}

// again returns a value that was written and read as JSON.
func again[T any](t *testing.T, value T) T {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	var decoded T
	require.NoError(t, json.Unmarshal(text, &decoded))
	require.Equal(t, value, decoded)
	return decoded
}

func TestLabels(t *testing.T) {
	train, test := random(200, 1), random(50, 2)
	unknown := "Bonn"
	test[3].City = &unknown
	each(t, func(t *testing.T, e *gpuframe.Engine) {
		for _, o := range []learn.CategoryOptions{{Unknown: learn.UnknownNull}, {Unknown: learn.UnknownCategory}, {Unknown: learn.UnknownCategory, NullCategory: true}, {}} {
			labels, err := learn.FitLabels(t.Context(), gpuframe.From(e, train), o, "City", "Shop")
			require.NoError(t, err)
			applied := again(t, labels).Apply(gpuframe.From(e, test))
			if o.Unknown == learn.UnknownFails {
				_, err := applied.Collect(t.Context())
				require.ErrorIs(t, err, learn.ErrUnknown)
				require.ErrorContains(t, err, `column "City" has the category "Bonn", which FitLabels`)
				continue
			}
			codes, shops := column[*int64](t, applied, "City"), column[*int64](t, applied, "Shop")
			for i, r := range test {
				want := int64(-1)
				switch next := int64(4); {
				case r.City == nil && o.NullCategory:
					want = next
				case r.City != nil && *r.City == unknown && o.NullCategory:
					want = next + 1
				case r.City != nil && *r.City == unknown && o.Unknown == learn.UnknownCategory:
					want = next
				case r.City != nil:
					want = int64(slices.Index([]string{"Bern", "Oslo", "Rome", "Wien"}, *r.City))
				}
				if want < 0 {
					assert.Nil(t, codes[i])
				} else {
					assert.Equal(t, want, *codes[i])
				}
				if r.Shop != nil {
					assert.Equal(t, int64(*r.Shop), *shops[i])
				}
			}
			assert.Equal(t, int64(0), column[int64](t, applied, "ID")[0], "the order of the rows")
		}
		positive := gpuframe.From(e, train).With(gpuframe.Col("Y").Gt(0.0).As("positive"))
		labels, err := learn.FitLabels(t.Context(), positive, learn.CategoryOptions{}, "positive")
		require.NoError(t, err)
		for i, code := range column[int64](t, again(t, labels).Apply(positive), "positive") {
			assert.Equal(t, train[i].Y > 0, code == 1)
		}
	})
}

func TestOneHot(t *testing.T) {
	train := random(200, 1)
	each(t, func(t *testing.T, e *gpuframe.Engine) {
		rows := gpuframe.From(e, train)
		o, err := learn.FitOneHot(t.Context(), rows, learn.CategoryOptions{NullCategory: true, Unknown: learn.UnknownCategory}, "City")
		require.NoError(t, err)
		require.Equal(t, []string{"City_Bern", "City_Oslo", "City_Rome", "City_Wien", "City_null", "City_unknown"}, o.Names())
		applied := again(t, o).Apply(rows)
		schema, err := applied.Schema(t.Context())
		require.NoError(t, err)
		require.Equal(t, 4+6, schema.NumFields())
		for _, name := range o.Names() {
			for i, bit := range column[uint8](t, applied, name) {
				is := train[i].City == nil && name == "City_null" || train[i].City != nil && name == "City_"+*train[i].City
				assert.Equal(t, is, bit == 1, "%s %d", name, i)
			}
		}
	})
}

func TestScaling(t *testing.T) {
	rows := random(300, 3)
	var sum, squares, least, greatest, n float64
	least = math.Inf(1)
	for _, r := range rows {
		if r.X != nil {
			sum, squares, n = sum+*r.X, squares+*r.X**r.X, n+1
			least, greatest = min(least, *r.X), max(greatest, *r.X)
		}
	}
	mean, deviation := sum/n, math.Sqrt(squares/n-sum*sum/n/n)
	each(t, func(t *testing.T, e *gpuframe.Engine) {
		q := gpuframe.From(e, rows).With(gpuframe.Lit(7).As("same"))
		for name, want := range map[string]func(x float64) float64{
			"standard": func(x float64) float64 { return (x - mean) / deviation },
			"minmax":   func(x float64) float64 { return (x - least) / (greatest - least) },
		} {
			fit := learn.FitStandardization
			if name == "minmax" {
				fit = learn.FitMinMax
			}
			s, err := fit(t.Context(), q, "X", "same")
			require.NoError(t, err)
			applied := again(t, s).Apply(q)
			assert.Equal(t, make([]float64, len(rows)), column[float64](t, applied, "same"))
			for i, x := range column[*float64](t, applied, "X") {
				if rows[i].X == nil {
					assert.Nil(t, x)
				} else {
					assert.InDelta(t, want(*rows[i].X), *x, 1e-9)
				}
			}
		}
	})
}

func TestImputation(t *testing.T) {
	rows := random(101, 4)
	var known []float64
	for _, r := range rows {
		if r.X != nil {
			known = append(known, *r.X)
		}
	}
	slices.Sort(known)
	middle := (known[(len(known)-1)/2] + known[len(known)/2]) / 2
	each(t, func(t *testing.T, e *gpuframe.Engine) {
		q := gpuframe.From(e, rows)
		m, err := learn.FitMedian(t.Context(), q, "X")
		require.NoError(t, err)
		for i, x := range column[float64](t, again(t, m).Apply(q), "X") {
			if rows[i].X == nil {
				assert.Equal(t, middle, x)
			}
		}
		m, err = learn.FitMean(t.Context(), q, "Shop")
		require.NoError(t, err)
		assert.Len(t, column[float64](t, m.Apply(q), "Shop"), len(rows))
		counts := map[string]int{}
		for _, r := range rows {
			if r.City != nil {
				counts[*r.City]++
			}
		}
		m, err = learn.FitMode(t.Context(), q, "City", "Shop")
		require.NoError(t, err)
		for _, n := range counts {
			assert.LessOrEqual(t, n, counts[*m.Columns[0].Value.Text])
		}
		assert.Len(t, column[int64](t, again(t, m).Apply(q), "Shop"), len(rows))
		m, err = learn.Constant("none", "City")
		require.NoError(t, err)
		for i, city := range column[string](t, again(t, m).Apply(q), "City") {
			assert.Equal(t, rows[i].City == nil, city == "none")
		}
	})
}

func TestBins(t *testing.T) {
	rows := random(400, 5)
	each(t, func(t *testing.T, e *gpuframe.Engine) {
		q := gpuframe.From(e, rows)
		for name, fit := range map[string]func(context.Context, gpuframe.Query, int, ...string) (learn.Bins, error){"uniform": learn.FitUniformBins, "quantile": learn.FitQuantileBins} {
			b, err := fit(t.Context(), q, 4, "X")
			require.NoError(t, err)
			edges, counts := b.Columns[0].Edges, make([]int, 4)
			require.Len(t, edges, 5, name)
			for i, bin := range column[*int64](t, again(t, b).Apply(q), "X") {
				if rows[i].X == nil {
					assert.Nil(t, bin)
					continue
				}
				x := *rows[i].X
				at := int(*bin)
				counts[at]++
				assert.True(t, edges[at] <= x && (x < edges[at+1] || at == 3), "%v in %d of %v", x, at, edges)
			}
			if name == "quantile" {
				assert.Less(t, slices.Max(counts)-slices.Min(counts), 10)
			}
		}
		nan := q.With(gpuframe.Lit(math.NaN()).As("X"))
		b, err := learn.FitUniformBins(t.Context(), q, 2, "X")
		require.NoError(t, err)
		assert.Equal(t, make([]*int64, len(rows)), column[*int64](t, b.Apply(nan), "X"))
	})
}

// mean is the smoothed mean of the targets of other rows.
func mean(rows []row, smoothing float64, in func(other row) bool) float64 {
	all, sum, n := 0.0, 0.0, 0.0
	for _, r := range rows {
		all += r.Y / float64(len(rows))
		if in(r) {
			sum, n = sum+r.Y, n+1
		}
	}
	if n+smoothing == 0 {
		return all
	}
	return (sum + smoothing*all) / (n + smoothing)
}

func TestTargets(t *testing.T) {
	rows := random(150, 6)
	same := func(a, b row) bool { return a.City != nil && b.City != nil && *a.City == *b.City }
	each(t, func(t *testing.T, e *gpuframe.Engine) {
		q := gpuframe.From(e, rows)
		for _, smoothing := range []float64{0, 7.5} {
			o := learn.TargetOptions{Smoothing: smoothing}
			m, err := learn.FitTargetMeans(t.Context(), q, "Y", o, "City", "Shop")
			require.NoError(t, err)
			left, err := learn.LeaveOneOut(q, "Y", o, "City")
			require.NoError(t, err)
			folds, err := learn.Folds(q.With(gpuframe.Hash(gpuframe.Col("ID"), int64(3)).Mod(uint64(4)).As("fold")), "Y", 4, gpuframe.Col("ID"), 3, o, "City")
			require.NoError(t, err)
			fold := column[uint64](t, folds, "fold")
			fitted, others, inFolds := column[float64](t, again(t, m).Apply(q), "City"), column[float64](t, left, "City"), column[float64](t, folds, "City")
			for i, r := range rows {
				if r.City == nil {
					whole := mean(rows, 1e18, func(row) bool { return false })
					assert.InDeltaSlice(t, []float64{whole, whole, whole}, []float64{fitted[i], others[i], inFolds[i]}, 1e-9)
					continue
				}
				assert.InDelta(t, mean(rows, smoothing, func(o row) bool { return same(r, o) }), fitted[i], 1e-9)
				assert.InDelta(t, mean(rows, smoothing, func(o row) bool { return same(r, o) && o.ID != r.ID }), others[i], 1e-9)
				assert.InDelta(t, mean(rows, smoothing, func(o row) bool { return same(r, o) && fold[o.ID] != fold[r.ID] }), inFolds[i], 1e-9)
			}
		}
	})
}

func TestSplit(t *testing.T) {
	rows := random(2000, 7)
	each(t, func(t *testing.T, e *gpuframe.Engine) {
		q := gpuframe.From(e, rows)
		train, test, err := learn.Split(q, 0.25, 11, gpuframe.Col("ID"))
		require.NoError(t, err)
		kept, tested := column[int64](t, train, "ID"), column[int64](t, test, "ID")
		assert.InDelta(t, 500, len(tested), 80)
		all := slices.Sorted(slices.Values(append(slices.Clone(kept), tested...)))
		assert.Equal(t, column[int64](t, q, "ID"), all)
		_, fewer, err := learn.Split(q.Filter(gpuframe.Col("ID").Lt(1000)), 0.25, 11, gpuframe.Col("ID"))
		require.NoError(t, err)
		for _, id := range column[int64](t, fewer, "ID") {
			assert.Contains(t, tested, id)
		}
		for fraction, n := range map[float64]int{0: 0, 1: 2000} {
			_, test, err := learn.Split(q, fraction, 11, gpuframe.Col("ID"))
			require.NoError(t, err)
			assert.Len(t, column[int64](t, test, "ID"), n)
		}
	})
}

func TestWeights(t *testing.T) {
	rows := random(300, 8)
	each(t, func(t *testing.T, e *gpuframe.Engine) {
		q := gpuframe.From(e, rows)
		totals := map[string]float64{}
		for i, w := range column[float64](t, q.With(learn.BalancedWeight(gpuframe.Col("City"))), "weight") {
			name := ""
			if rows[i].City != nil {
				name = *rows[i].City
			}
			totals[name] += w
		}
		for _, total := range totals {
			assert.InDelta(t, 300.0/5, total, 1e-9)
		}
		weight, err := learn.StratifiedWeight(gpuframe.Col("City"), learn.Share{Class: "Oslo", Share: 0.75}, learn.Share{Class: "Rome", Share: 0.25})
		require.NoError(t, err)
		clear(totals)
		for i, w := range column[float64](t, q.With(weight), "weight") {
			if rows[i].City != nil {
				totals[*rows[i].City] += w
			} else {
				assert.Zero(t, w)
			}
		}
		assert.InDelta(t, 225, totals["Oslo"], 1e-9)
		assert.InDelta(t, 75, totals["Rome"], 1e-9)
		assert.Zero(t, totals["Bern"])
	})
}

func TestRefusals(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	ctx, q := t.Context(), gpuframe.From(e, random(10, 9))
	errorOf := func(_ any, err error) error { return err }
	_, err = learn.LeaveOneOut(q, "Y", learn.TargetOptions{Smoothing: -1}, "City")
	require.ErrorIs(t, err, learn.ErrOption)
	_, _, err = learn.Split(q, 2, 0, gpuframe.Col("ID"))
	require.ErrorIs(t, err, learn.ErrOption)
	for want, list := range map[error][]error{
		learn.ErrType: {
			errorOf(learn.FitLabels(ctx, q, learn.CategoryOptions{}, "X")), errorOf(learn.FitStandardization(ctx, q, "City")), errorOf(learn.FitMode(ctx, q, "X")),
			errorOf(learn.FitTargetMeans(ctx, q, "Y", learn.TargetOptions{}, "X")),
		},
		learn.ErrOption: {
			errorOf(learn.FitLabels(ctx, q, learn.CategoryOptions{Unknown: "skip"}, "City")), errorOf(learn.FitUniformBins(ctx, q, 0, "X")), errorOf(learn.Constant(uint8(3), "X")),
			errorOf(learn.FitQuantileBins(ctx, q, -1, "X")), errorOf(learn.Folds(q, "Y", 1, gpuframe.Col("ID"), 0, learn.TargetOptions{}, "City")),
			errorOf(learn.StratifiedWeight(gpuframe.Col("City"), learn.Share{Class: "Oslo", Share: -1})), errorOf(learn.FitTargetMeans(ctx, q, "Y", learn.TargetOptions{Smoothing: math.NaN()}, "City")),
		},
		learn.ErrNoRows: {
			errorOf(learn.FitMean(ctx, q.Filter(gpuframe.Col("ID").Lt(0)), "X")), errorOf(learn.FitMode(ctx, q.Filter(gpuframe.Col("ID").Lt(0)), "City")),
		},
	} {
		for _, err := range list {
			require.ErrorIs(t, err, want)
		}
	}
	_, err = learn.FitMinMax(ctx, q, "missing")
	var problems *gpuframe.QueryError
	require.ErrorAs(t, err, &problems)
	nothing, err := learn.FitLabels(ctx, q.Filter(gpuframe.Col("ID").Lt(0)), learn.CategoryOptions{Unknown: learn.UnknownNull}, "City")
	require.NoError(t, err)
	require.Equal(t, make([]*int64, 10), column[*int64](t, nothing.Apply(q), "City"))
}
