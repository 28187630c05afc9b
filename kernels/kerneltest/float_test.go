package kerneltest

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sameFloat reports whether two floats are equal. All NaNs are equal; the two zeros
// differ.
func sameFloat(want, got float64) bool {
	return want != want && got != got || math.Float64bits(want) == math.Float64bits(got)
}

// floats64 runs code on the float64 operands %e0, %e1, %e2 with the result in %e3.
func floats64(t *testing.T, b *bench, code string, f func(x, y, z float64) float64) {
	t.Helper()
	rows := floatOperands(64)
	value := math.Float64frombits
	for i, got := range b.each("mov.b64 %e0, %a; mov.b64 %e1, %b; mov.b64 %e2, %c; "+code+" mov.b64 %d, %e3;", rows) {
		x, y, z := value(rows[i][0]), value(rows[i][1]), value(rows[i][2])
		require.True(t, sameFloat(f(x, y, z), value(got)), "%s of %v, %v, %v: %v, not %v", code, x, y, z, value(got), f(x, y, z))
	}
}

// floats32 runs code on the float32 operands %f0, %f1, %f2 with the result in %f3.
func floats32(t *testing.T, b *bench, code string, f func(x, y, z float32) float32) {
	t.Helper()
	rows := floatOperands(32)
	value := func(x uint64) float32 { return math.Float32frombits(uint32(x)) }
	load := "cvt.u32.u64 %r0, %a; mov.b32 %f0, %r0; cvt.u32.u64 %r0, %b; mov.b32 %f1, %r0; cvt.u32.u64 %r0, %c; mov.b32 %f2, %r0; "
	for i, got := range b.each(load+code+" mov.b32 %r1, %f3; cvt.u64.u32 %d, %r1;", rows) {
		x, y, z := value(rows[i][0]), value(rows[i][1]), value(rows[i][2])
		want := f(x, y, z)
		require.True(t, sameFloat(float64(want), float64(value(got))), "%s of %v, %v, %v: %v, not %v", code, x, y, z, value(got), want)
		if want != want && !strings.Contains(code, "neg") && !strings.Contains(code, "abs") && !strings.Contains(code, "copysign") {
			require.EqualValues(t, canonical, got, code)
		}
	}
}

// viaBig rounds the exact sum of x·y and z to float32.
func viaBig(x, y, z float32, mode big.RoundingMode) float32 {
	exact := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
	exact.Add(exact, big.NewFloat(float64(z)))
	if exact.Sign() == 0 {
		return float32(float64(x)*float64(y) + float64(z))
	}
	if mode == big.ToNearestEven {
		f, _ := exact.Float32()
		return f
	}
	f, accuracy := exact.Float32() // rounded to nearest, so at most one step away
	below, above := f, f
	switch accuracy {
	case big.Exact:
		return f
	case big.Below:
		above = math.Nextafter32(f, float32(math.Inf(1)))
	case big.Above:
		below = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	if mode == big.ToNegativeInf || mode == big.ToZero && exact.Sign() > 0 {
		return below
	}
	return above
}

func finite(values ...float32) bool {
	for _, x := range values {
		if !ordinary(float64(x)) {
			return false
		}
	}
	return true
}

func TestFloat32(t *testing.T) {
	b := open(t, Options{})
	floats32(t, b, "add.f32 %f3, %f0, %f1;", func(x, y, _ float32) float32 { return x + y })
	floats32(t, b, "sub.rn.f32 %f3, %f0, %f1;", func(x, y, _ float32) float32 { return x - y })
	floats32(t, b, "mul.f32 %f3, %f0, %f1;", func(x, y, _ float32) float32 { return x * y })
	floats32(t, b, "div.rn.f32 %f3, %f0, %f1;", func(x, y, _ float32) float32 { return x / y })
	floats32(t, b, "sqrt.rn.f32 %f3, %f0;", func(x, _, _ float32) float32 { return float32(math.Sqrt(float64(x))) })
	floats32(t, b, "rcp.rn.f32 %f3, %f0;", func(x, _, _ float32) float32 { return 1 / x })
	floats32(t, b, "neg.f32 %f3, %f0;", func(x, _, _ float32) float32 { return -x })
	floats32(t, b, "abs.f32 %f3, %f0;", func(x, _, _ float32) float32 { return float32(math.Abs(float64(x))) })
	floats32(t, b, "copysign.f32 %f3, %f0, %f1;", func(x, y, _ float32) float32 { return float32(math.Copysign(float64(y), float64(x))) })
	floats32(t, b, "add.sat.f32 %f3, %f0, %f1;", func(x, y, _ float32) float32 {
		if s := x + y; s > 0 {
			return min(s, 1)
		}
		return 0
	})
	for mode, name := range map[big.RoundingMode]string{big.ToNearestEven: "rn", big.ToZero: "rz", big.ToNegativeInf: "rm", big.ToPositiveInf: "rp"} {
		floats32(t, b, "fma."+name+".f32 %f3, %f0, %f1, %f2;", func(x, y, z float32) float32 {
			switch {
			case !finite(x, y, z):
				return float32(float64(x)*float64(y) + float64(z))
			case float64(x)*float64(y)+float64(z) == 0 && mode == big.ToNegativeInf && (x*y != 0 || math.Signbit(float64(x*y)) != math.Signbit(float64(z))):
				return float32(math.Copysign(0, -1)) // an exact zero, of opposite signs
			}
			return viaBig(x, y, z, mode)
		})
		floats32(t, b, "mul."+name+".f32 %f3, %f0, %f1;", func(x, y, _ float32) float32 {
			if !finite(x, y) || x == 0 || y == 0 {
				return x * y
			}
			return viaBig(x, y, 0, mode)
		})
	}
	pick := func(less bool) func(x, y, _ float32) float32 {
		return func(x, y, _ float32) float32 {
			switch {
			case x != x:
				return y
			case y != y:
				return x
			case x == 0 && y == 0:
				if math.Signbit(float64(x)) == less {
					return x
				}
				return y
			case (x < y) == less:
				return x
			}
			return y
		}
	}
	floats32(t, b, "min.f32 %f3, %f0, %f1;", pick(true))
	floats32(t, b, "max.f32 %f3, %f0, %f1;", pick(false))
}

func TestFlush(t *testing.T) {
	b := open(t, Options{})
	flush := func(x float32) float32 {
		if math.Abs(float64(x)) < math.Ldexp(1, -126) {
			return float32(math.Copysign(0, float64(x)))
		}
		return x
	}
	floats32(t, b, "add.ftz.f32 %f3, %f0, %f1;", func(x, y, _ float32) float32 { return flush(flush(x) + flush(y)) })
	floats32(t, b, "mul.ftz.f32 %f3, %f0, %f1;", func(x, y, _ float32) float32 { return flush(flush(x) * flush(y)) })
	floats32(t, b, "setp.eq.ftz.f32 %p1, %f0, %f1; selp.f32 %f3, 0f3F800000, 0f00000000, %p1;", func(x, y, _ float32) float32 {
		if flush(x) == flush(y) {
			return 1
		}
		return 0
	})
}

func TestFloat64(t *testing.T) {
	b := open(t, Options{})
	floats64(t, b, "add.f64 %e3, %e0, %e1;", func(x, y, _ float64) float64 { return x + y })
	floats64(t, b, "sub.f64 %e3, %e0, %e1;", func(x, y, _ float64) float64 { return x - y })
	floats64(t, b, "mul.rn.f64 %e3, %e0, %e1;", func(x, y, _ float64) float64 { return x * y })
	floats64(t, b, "div.rn.f64 %e3, %e0, %e1;", func(x, y, _ float64) float64 { return x / y })
	floats64(t, b, "fma.rn.f64 %e3, %e0, %e1, %e2;", math3(math.FMA))
	floats64(t, b, "sqrt.rn.f64 %e3, %e0;", func(x, _, _ float64) float64 { return math.Sqrt(x) })
	floats64(t, b, "neg.f64 %e3, %e0;", func(x, _, _ float64) float64 { return -x })
	for _, name := range []string{"lt", "le", "gt", "ge", "eq", "ne", "ltu", "leu", "gtu", "geu", "equ", "neu", "num", "nan"} {
		floats64(t, b, "setp."+name+".f64 %p1, %e0, %e1; selp.f64 %e3, 1.0, 0.0, %p1;", func(x, y, _ float64) float64 {
			unordered := x != x || y != y
			var is bool
			switch name[:2] {
			case "lt":
				is = x < y
			case "le":
				is = x <= y
			case "gt":
				is = x > y
			case "ge":
				is = x >= y
			case "eq":
				is = x == y
			case "ne":
				is = x != y && !unordered
			case "nu":
				is = !unordered
			case "na":
				is = unordered
			}
			if is || unordered && name[2:] == "u" {
				return 1
			}
			return 0
		})
	}
	// The results rounded up and down equal the result rounded to nearest or are its
	// neighbours.
	for _, operation := range []string{"add.%s.f64 %%e3, %%e0, %%e1;", "div.%s.f64 %%e3, %%e0, %%e1;", "sqrt.%s.f64 %%e3, %%e0;"} {
		code := "{.reg .f64 %lo, %hi, %mid; " + strings.ReplaceAll(strings.ReplaceAll(operation, "%s", "rm"), "%%e3", "%lo") +
			strings.ReplaceAll(strings.ReplaceAll(operation, "%s", "rp"), "%%e3", "%hi") +
			strings.ReplaceAll(strings.ReplaceAll(operation, "%s", "rn"), "%%e3", "%mid") +
			"mov.b64 %q1, %lo; mov.b64 %q2, %hi; mov.b64 %q3, %mid; }"
		code = strings.ReplaceAll(code, "%%", "%")
		rows := floatOperands(64)
		prefix := "mov.b64 %e0, %a; mov.b64 %e1, %b; mov.b64 %e2, %c; " + code
		low, high, middle := b.each(prefix+"mov.b64 %d, %q1;", rows), b.each(prefix+"mov.b64 %d, %q2;", rows), b.each(prefix+"mov.b64 %d, %q3;", rows)
		for i := range rows {
			l, h, m := math.Float64frombits(low[i]), math.Float64frombits(high[i]), math.Float64frombits(middle[i])
			if m != m {
				require.True(t, l != l && h != h)
				continue
			}
			require.True(t, l <= m && m <= h && (l == h || math.Nextafter(l, math.Inf(1)) == h && (m == l || m == h)),
				"%s of %v and %v: %v, %v, %v", operation, math.Float64frombits(rows[i][0]), math.Float64frombits(rows[i][1]), l, m, h)
		}
	}
}

func math3(f func(x, y, z float64) float64) func(x, y, z float64) float64 { return f }

// TestApproximations checks that the approximate functions are as exact as float32.
func TestApproximations(t *testing.T) {
	b := open(t, Options{})
	for name, f := range map[string]func(float64) float64{
		"ex2": math.Exp2, "lg2": math.Log2, "sin": math.Sin, "cos": math.Cos, "sqrt": math.Sqrt,
		"rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) }, "rcp": func(x float64) float64 { return 1 / x },
	} {
		floats32(t, b, name+".approx.f32 %f3, %f0;", func(x, _, _ float32) float32 { return float32(f(float64(x))) })
	}
	floats32(t, b, "div.full.f32 %f3, %f0, %f1;", func(x, y, _ float32) float32 { return x / y })
}
