package group_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// floatTable is a table of groups of floats: "k", "x" and "y".
func floatTable(t testing.TB, mgr *memory.Manager, keys []int32, x, y []float64) *buffer.Buffer {
	t.Helper()
	k := columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Int32, keys)
	columns := []*column.Column{k, columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Float64, x), columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Float64, y)}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "y", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	table, err := buffer.New(schema, columns, buffer.Rows{Count: int64(len(keys))})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, table.Release()) })
	return table
}

// floatResults returns the aggregates of a table by "k", in the order of the keys.
func floatResults(t testing.TB, table *buffer.Buffer, aggregates ...group.Aggregate) [][]float64 {
	t.Helper()
	result, err := group.By(table, group.Columns("k")...).Aggregate(t.Context(), aggregates, group.ByOptions{Order: group.FirstAppearance})
	require.NoError(t, err)
	record := columntest.Fetch(t, result)
	found := make([][]float64, len(aggregates))
	for i := range found {
		found[i] = record.Column(1 + i).(*array.Float64).Float64Values()
	}
	return found
}

// draws are distributions of floats that are hard to add up.
var draws = map[string]func(r *rand.Rand) float64{
	"unit":        func(r *rand.Rand) float64 { return r.Float64() },
	"cancelling":  func(r *rand.Rand) float64 { return math.Ldexp(r.NormFloat64(), r.IntN(60)) },
	"all":         func(r *rand.Rand) float64 { return math.Ldexp(r.NormFloat64(), r.IntN(1900)-950) },
	"subnormal":   func(r *rand.Rand) float64 { return math.Float64frombits(r.Uint64N(1<<53)) * float64(1-2*r.IntN(2)) },
	"few bits":    func(r *rand.Rand) float64 { return float64(r.IntN(1000)) / 8 },
	"nearly same": func(r *rand.Rand) float64 { return 1e9 + r.Float64() },
}

// TestFloatSums compares sums with those of math/big, within the bound that the package
// states, and requires the same bits for every order of the rows.
func TestFloatSums(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		r := rand.New(rand.NewPCG(1, 2))
		for name, next := range property.InOrder(draws) {
			const groups = 7
			n, permutations := 1000, 3
			if brief(mgr) {
				n, permutations = 300, 1
			}
			keys, x := make([]int32, n), make([]float64, n)
			exact, most, counts := make([]*big.Float, groups), make([]float64, groups), make([]float64, groups)
			for i := range x {
				keys[i], x[i] = int32(i%groups), next(r)
				g := keys[i]
				if exact[g] == nil {
					exact[g] = new(big.Float).SetPrec(4000)
				}
				exact[g].Add(exact[g], new(big.Float).SetFloat64(x[i]))
				most[g] = max(most[g], math.Abs(x[i]))
				counts[g]++
			}
			got := floatResults(t, floatTable(t, mgr, keys, x, x), group.Sum(expr.Col("x")), group.Mean(expr.Col("x")))
			for g, sum := range got[0] {
				difference := new(big.Float).SetPrec(4000).Sub(new(big.Float).SetFloat64(sum), exact[g])
				ulp := math.Nextafter(math.Abs(sum), math.Inf(1)) - math.Abs(sum)
				bound := new(big.Float).SetPrec(4000).SetMantExp(new(big.Float).SetFloat64(counts[g]*most[g]), -80)
				bound.Add(bound, new(big.Float).SetMantExp(new(big.Float).SetFloat64(ulp), -1))
				require.LessOrEqual(t, difference.Abs(difference).Cmp(bound), 0, "%s: the sum of group %d is %v, not %v", name, g, sum, exact[g])
				require.Equal(t, sum/counts[g], got[1][g], "%s: mean", name)
			}
			measures := []group.Aggregate{group.Sum(expr.Col("x")), group.Variance(expr.Col("x"), 0), group.Skewness(expr.Col("x")), group.KurtosisPop(expr.Col("x"))}
			first := floatResults(t, floatTable(t, mgr, keys, x, x), measures...)
			for range permutations { // within the groups: they keep the order of the groups
				order := permuted(r, n, groups)
				shuffled := make([]float64, n)
				for i, from := range order {
					shuffled[i] = x[from]
				}
				again := floatResults(t, floatTable(t, mgr, keys, shuffled, shuffled), measures...)
				for i := range first {
					for g := range groups {
						require.Equal(t, math.Float64bits(first[i][g]), math.Float64bits(again[i][g]), "%s: aggregate %d of group %d depends on the order", name, i, g)
					}
				}
			}
		}
	})
}

// permuted returns a permutation of rows that keeps each in its group.
func permuted(r *rand.Rand, n, groups int) []int {
	order := make([]int, n)
	for g := range groups {
		var rows []int
		for i := g; i < n; i += groups {
			rows = append(rows, i)
		}
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for i, row := range rows {
			order[g+i*groups] = row
		}
	}
	return order
}

// TestSpecialSums adds infinities, NaN and values that overflow.
func TestSpecialSums(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		inf, nan := math.Inf(1), math.NaN()
		for _, c := range []struct {
			values []float64
			want   float64
		}{
			{[]float64{1, inf, 2}, inf}, {[]float64{-inf, 5}, -inf}, {[]float64{inf, -inf}, nan}, {[]float64{1, nan}, nan},
			{[]float64{math.MaxFloat64, math.MaxFloat64}, inf}, {[]float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, math.MaxFloat64},
			{[]float64{math.Copysign(0, -1)}, 0}, {[]float64{1e300, 1, -1e300}, 0}, {[]float64{1e20, 1, -1e20}, 1}, {[]float64{1e30, 1, -1e30}, 0}, {[]float64{5e-324, 5e-324}, 1e-323},
			{[]float64{1, 0x1p-53}, 1}, {[]float64{1, 0x1p-53, 0x1p-80}, math.Nextafter(1, 2)}, {[]float64{math.Nextafter(1, 2), 0x1p-53}, 1 + 0x1p-51},
			{[]float64{-1, -0x1p-53, -0x1p-80}, math.Nextafter(-1, -2)},
		} {
			got := floatResults(t, floatTable(t, mgr, make([]int32, len(c.values)), c.values, c.values), group.Sum(expr.Col("x")))[0][0]
			if c.want != c.want {
				require.True(t, got != got, "%v", c.values)
				continue
			}
			require.Equal(t, math.Float64bits(c.want), math.Float64bits(got), "the sum of %v is %v, not %v", c.values, got, c.want)
		}
	})
}

// TestMoments compares moments with those of math/big for values with a mean that is much
// larger than the spread.
func TestMoments(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, shift := range []float64{0, 1e3, -1e6, 1e9} {
			const n = 500
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i] = shift + r.NormFloat64()
				y[i] = shift + r.ExpFloat64() + x[i]/2
			}
			xs, ys := expr.Col("x"), expr.Col("y")
			got := floatResults(t, floatTable(t, mgr, make([]int32, n), x, y), group.Variance(xs, 1), group.StdDev(ys, 0), group.Covariance(xs, ys, 1),
				group.Correlation(xs, ys), group.Skewness(ys), group.KurtosisPop(ys), group.Kurtosis(ys))
			xx, xy, yy, yyy, yyyy := centralMoments(x, y)
			kurtosis := yyyy/n/(yy/n*yy/n) - 3
			for i, want := range []float64{
				xx / (n - 1), math.Sqrt(yy / n), xy / (n - 1), xy / math.Sqrt(xx*yy), yyy / n / math.Pow(yy/n, 1.5),
				kurtosis, ((n+1)*kurtosis + 6) * (n - 1) / ((n - 2) * (n - 3)),
			} {
				tolerance := 1e-12
				switch {
				case i >= 5 && shift == 1e9: // the fourth power of the mean has 120 bits more than that of the spread
					continue
				case i >= 5 && shift == -1e6:
					tolerance = 1e-5
				case i == 4 && shift == 1e9: // and the third one 90 bits
					tolerance = 1e-3
				}
				require.InEpsilon(t, want, got[i][0], tolerance, "moment %d, shift %v", i, shift)
			}
		}
		for _, value := range []float64{3, 0.1, -1e100 / 3, 1.1e-100} {
			same := []float64{value, value, value, value, value, value, value}
			got := floatResults(t, floatTable(t, mgr, make([]int32, 7), same, []float64{1, 2, 4, -3.5, 0.1, 0, 0.3}),
				group.Correlation(expr.Col("x"), expr.Col("y")), group.Variance(expr.Col("x"), 1), group.Covariance(expr.Col("x"), expr.Col("y"), 1), group.Skewness(expr.Col("x")),
				group.Kurtosis(expr.Col("x")), group.KurtosisPop(expr.Col("x")))
			require.True(t, got[0][0] != got[0][0], "a correlation with equal values is %v", got[0][0])
			require.Zero(t, got[1][0])
			require.InDelta(t, 0, got[2][0]/value, 1e-30)
			for _, moment := range got[3:] {
				require.True(t, moment[0] != moment[0])
			}
		}
	})
}

// TestKurtosisOfFewValues has the values that decide whether there is a result: the correction takes four values, and
// two values that are equally frequent have the least kurtosis.
func TestKurtosisOfFewValues(t *testing.T) {
	eachDevice(t, func(t *testing.T, mgr *memory.Manager) {
		for _, c := range []struct {
			values      []float64
			sample, pop string
		}{
			{[]float64{1}, isNull, "NaN"}, {[]float64{1, 2}, isNull, "-2"}, {[]float64{1, 1, 3}, isNull, "-1.5"}, {[]float64{2, 2, 2, 2}, "NaN", "NaN"},
			{[]float64{0.1, 0.3, 0.3, 0.1}, "-6", "-2"}, {[]float64{0, 0, 0, 0, 1}, "5", "0.25"},
			{[]float64{1, 2, 3, math.Inf(1)}, "NaN", "NaN"},
		} {
			table := floatTable(t, mgr, make([]int32, len(c.values)), c.values, c.values)
			result, err := group.By(table, group.Columns("k")...).Aggregate(t.Context(), []group.Aggregate{group.Kurtosis(expr.Col("x")), group.KurtosisPop(expr.Col("x"))},
				group.ByOptions{})
			require.NoError(t, err)
			record := columntest.Fetch(t, result)
			require.Equal(t, []string{c.sample, c.pop}, []string{columntest.Texts(record.Column(1))[0], columntest.Texts(record.Column(2))[0]}, "%v", c.values)
		}
	})
}

// centralMoments returns the sums of the products of deviations.
func centralMoments(x, y []float64) (xx, xy, yy, yyy, yyyy float64) {
	float := func(x float64) *big.Float { return new(big.Float).SetPrec(1000).SetFloat64(x) }
	mean := func(values []float64) *big.Float {
		total := float(0)
		for _, v := range values {
			total.Add(total, float(v))
		}
		return total.Quo(total, float(float64(len(values))))
	}
	mx, my := mean(x), mean(y)
	sums := [5]*big.Float{float(0), float(0), float(0), float(0), float(0)}
	for i := range x {
		dx, dy := float(x[i]), float(y[i])
		dx.Sub(dx, mx)
		dy.Sub(dy, my)
		for j, factors := range [5][]*big.Float{{dx, dx}, {dx, dy}, {dy, dy}, {dy, dy, dy}, {dy, dy, dy, dy}} {
			product := float(1)
			for _, f := range factors {
				product.Mul(product, f)
			}
			sums[j].Add(sums[j], product)
		}
	}
	var out [5]float64
	for i, s := range sums {
		out[i], _ = s.Float64()
	}
	return out[0], out[1], out[2], out[3], out[4]
}
