package gpuframe_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// point is a row of a test of aggregates of two columns.
type point struct {
	G    int32    `gpuframe:"g"`
	X    *float64 `gpuframe:"x"`
	Y    *float64 `gpuframe:"y"`
	Name *string  `gpuframe:"name"`
}

// drawPoints draws points with nulls. A group may have points with one x.
func drawPoints(r *rand.Rand, n int) []point {
	points := make([]point, n)
	for i := range points {
		p := point{G: int32(r.IntN(6))}
		if r.IntN(5) > 0 {
			x := float64(r.IntN(10))
			if p.G == 0 {
				x = 3
			}
			p.X = &x
		}
		if r.IntN(5) > 0 {
			y := math.Round(r.NormFloat64() * 8)
			if p.G == 1 {
				y = -1
			}
			p.Y = &y
		}
		if r.IntN(4) > 0 {
			name := fmt.Sprint("n", r.IntN(30))
			p.Name = &name
		}
		points[i] = p
	}
	return points
}

// line is the line of least squares of points: not valid if it is null.
type line struct{ slope, intercept, r2 float64 }

func lineOf(points []point) (l line, valid bool) {
	var n, sx, sy, sxx, sxy, syy float64
	for _, p := range points {
		if p.X != nil && p.Y != nil {
			n, sx, sy, sxx, sxy, syy = n+1, sx+*p.X, sy+*p.Y, sxx+*p.X**p.X, sxy+*p.X**p.Y, syy+*p.Y**p.Y
		}
	}
	dx, dy, both := n*sxx-sx*sx, n*syy-sy*sy, n*sxy-sx*sy
	if n == 0 || dx == 0 {
		return l, false
	}
	l.slope = both / dx
	l.intercept, l.r2 = (sy-l.slope*sx)/n, 1
	if dy != 0 {
		l.r2 = both * both / (dx * dy)
	}
	return l, true
}

// TestRegression compares with sums of the points of each group.
func TestRegression(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		points := drawPoints(property.Random(t), 90)
		y, x := gpuframe.Col("y"), gpuframe.Col("x")
		query := gpuframe.From(e, points).GroupBy(gpuframe.Col("g")).Agg(gpuframe.RegressionSlope(y, x).As("slope"),
			gpuframe.RegressionIntercept(y, x).As("intercept"), gpuframe.RegressionR2(y, x).As("r2"))
		type result struct {
			G         int32    `gpuframe:"g"`
			Slope     *float64 `gpuframe:"slope"`
			Intercept *float64 `gpuframe:"intercept"`
			R2        *float64 `gpuframe:"r2"`
		}
		for row, err := range gpuframe.Rows[result](t.Context(), query) {
			require.NoError(t, err)
			want, valid := lineOf(ofGroup(points, row.G))
			require.Equal(t, valid, row.Slope != nil && row.Intercept != nil && row.R2 != nil, "%v", row)
			if valid {
				require.InDelta(t, want.slope, *row.Slope, 1e-9)
				require.InDelta(t, want.intercept, *row.Intercept, 1e-9)
				require.InDelta(t, want.r2, *row.R2, 1e-9)
			}
		}
	})
}

func ofGroup(points []point, g int32) (list []point) {
	for _, p := range points {
		if p.G == g {
			list = append(list, p)
		}
	}
	return list
}

// TestDeviations compares with loops over the sorted values of each group.
func TestDeviations(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		points := drawPoints(property.Random(t), 90)
		y := gpuframe.Col("y")
		query := gpuframe.From(e, points).GroupBy(gpuframe.Col("g")).Agg(y.Mad().As("mad"), y.Abs().Add(1).GeometricMean().As("mean"))
		type result struct {
			G    int32    `gpuframe:"g"`
			Mad  *float64 `gpuframe:"mad"`
			Mean *float64 `gpuframe:"mean"`
		}
		for row, err := range gpuframe.Rows[result](t.Context(), query) {
			require.NoError(t, err)
			var values []float64
			product := 1.0
			for _, p := range ofGroup(points, row.G) {
				if p.Y != nil {
					values, product = append(values, *p.Y), product*(math.Abs(*p.Y)+1)
				}
			}
			require.Equal(t, len(values) == 0, row.Mad == nil && row.Mean == nil, "%v", row)
			if len(values) == 0 {
				continue
			}
			center := medianOf(values)
			for i := range values {
				values[i] = math.Abs(values[i] - center)
			}
			require.InDelta(t, medianOf(values), *row.Mad, 1e-12)
			require.InEpsilon(t, math.Pow(product, 1/float64(len(values))), *row.Mean, 1e-9)
		}
	})
}

func medianOf(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// TestMultiples checks products of common divisors and multiples, and factorials at their limits.
func TestMultiples(t *testing.T) {
	type pair struct {
		A int32 `gpuframe:"a"`
		B int16 `gpuframe:"b"`
	}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		a, b := gpuframe.Col("a"), gpuframe.Col("b")
		pairs := gpuframe.From(e, []pair{{12, 18}, {-4, 6}, {0, 5}, {7, 0}, {0, 0}, {20, 20}, {21, -1}})
		require.Equal(t, []string{
			"6 36 479001600", "2 12 (null)", "5 0 1", "7 0 5040", "0 0 1", "20 20 2432902008176640000", "1 21 (null)",
		}, collect(t, pairs.Select(a.Gcd(b).As("gcd"), a.Lcm(b).As("lcm"), a.Factorial().As("factorial"))))
	})
}

// TestAtExtremes compares with loops over the points of each group.
func TestAtExtremes(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		points := drawPoints(property.Random(t), 90)
		x, name := gpuframe.Col("x"), gpuframe.Col("name")
		query := gpuframe.From(e, points).GroupBy(gpuframe.Col("g")).Agg(name.AtMax(x).As("most"), name.AtMin(x).As("least"),
			x.Gt(4).CountIf().As("n"))
		type result struct {
			G     int32   `gpuframe:"g"`
			Most  *string `gpuframe:"most"`
			Least *string `gpuframe:"least"`
			N     int64   `gpuframe:"n"`
		}
		for row, err := range gpuframe.Rows[result](t.Context(), query) {
			require.NoError(t, err)
			want := result{G: row.G}
			var high, low float64
			for _, p := range ofGroup(points, row.G) {
				if p.X != nil && *p.X > 4 {
					want.N++
				}
				if p.X == nil || p.Name == nil {
					continue
				}
				if want.Most == nil || *p.X > high || *p.X == high && *p.Name > *want.Most {
					high, want.Most = *p.X, p.Name
				}
				if want.Least == nil || *p.X < low || *p.X == low && *p.Name < *want.Least {
					low, want.Least = *p.X, p.Name
				}
			}
			require.Equal(t, want, row)
		}
	})
}

func TestConcatWith(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		type row struct {
			A, B *string
		}
		a, empty, long := "a", "", ", b"
		rows := []row{{&a, &long}, {nil, &a}, {&a, nil}, {nil, nil}, {&empty, &a}, {&empty, &empty}, {&long, nil}}
		joined := gpuframe.ConcatWith(", ", gpuframe.Col("A"), gpuframe.Col("B"), "z", gpuframe.Col("A"))
		query := gpuframe.From(e, rows).Select(joined.As("all"), gpuframe.ConcatWith("", gpuframe.Col("A"), gpuframe.Col("B")).As("plain"),
			gpuframe.ConcatWith("-", gpuframe.Col("B")).As("one"))
		type result struct {
			All   string `gpuframe:"all"`
			Plain string `gpuframe:"plain"`
			One   string `gpuframe:"one"`
		}
		var got []result
		for row, err := range gpuframe.Rows[result](t.Context(), query) {
			require.NoError(t, err)
			got = append(got, row)
		}
		require.Equal(t, []result{{"a, , b, z, a", "a, b", ", b"}, {"a, z", "a", "a"}, {"a, z, a", "a", ""}, {"z", "", ""},
			{", a, z, ", "a", "a"}, {", , z, ", "", ""}, {", b, z, , b", ", b", ""}}, got)
	})
}
