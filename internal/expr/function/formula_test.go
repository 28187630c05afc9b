package function_test

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exact has operands and results of formulas, computed with mpmath in 1,400 bits and rounded to float64.
//
//go:embed testdata/formulas.txt
var exact string

// units are the greatest distances from the exact results, in units of the last place.
var units = map[string]float64{
	"atan": 1, "atan2": 1, "asin": 2, "acos": 2, "expm1": 1, "sinh": 1, "cosh": 1, "tanh": 2,
	"log1p": 1, "log2": 1, "cbrt": 1, "asinh": 3, "acosh": 3, "atanh": 3,
}

func TestFormulas(t *testing.T) {
	worst := map[string]float64{}
	for line := range strings.Lines(exact) {
		fields := strings.Fields(line)
		var values []float64
		for _, field := range fields[1:] {
			value, err := strconv.ParseFloat(field, 64)
			require.NoError(t, err)
			values = append(values, value)
		}
		f, want := named(t, fields[0]), values[len(values)-1]
		var got float64
		if f.Operands() == 2 {
			got = f.Floats(values[0], values[1])
		} else {
			got = f.Float(values[0])
		}
		apart := math.Abs(float64(int64(math.Float64bits(want) - math.Float64bits(got))))
		worst[f.Name] = max(worst[f.Name], apart)
		assert.LessOrEqual(t, apart, units[f.Name], "%s: %v", line, got)
	}
	require.Len(t, worst, len(units))
	t.Log(worst)
}

// TestFormulasOfSpecialNumbers compares with Go's functions, which have the results of C99.
func TestFormulasOfSpecialNumbers(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, -0.5, math.Inf(1), math.Inf(-1), math.NaN(), 1e300, -1e300, 5e-324, -5e-324, 1e-310, 800, -800,
		math.MaxFloat64, -math.MaxFloat64, math.Nextafter(1, 2), math.Nextafter(1, 0)}
	check := func(name string, got, want float64, x ...float64) {
		if want != want {
			assert.True(t, got != got, "%s of %v: %v", name, x, got)
			return
		}
		near := got == want || math.Abs(got-want) <= 1e-14*math.Abs(want)
		assert.True(t, near && math.Signbit(got) == math.Signbit(want), "%s of %v: %v, not %v", name, x, got, want)
	}
	for name, model := range map[string]func(float64) float64{
		"atan": math.Atan, "asin": math.Asin, "acos": math.Acos, "expm1": math.Expm1, "sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh,
		"log1p": math.Log1p, "log2": math.Log2, "cbrt": math.Cbrt, "asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh,
	} {
		for _, x := range special {
			want := model(x)
			if name == "log2" && math.Abs(x-1) < 1e-15 {
				want = (x - 1) * math.Log2E // Go's result has few digits
			}
			check(name, named(t, name).Float(x), want, x)
		}
	}
	for _, y := range special {
		for _, x := range special {
			// Go has the wrong sign if y/x underflows.
			check("atan2", named(t, "atan2").Floats(y, x), math.Copysign(math.Atan2(math.Abs(y), x), y), y, x)
		}
	}
	for k := -1074; k <= 1023; k++ {
		require.Equal(t, float64(k), named(t, "log2").Float(math.Ldexp(1, k)))
	}
}
