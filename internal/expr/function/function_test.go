package function_test

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/expr/function"
	"github.com/gpuframe/gpuframe/internal/ptx"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// TestRegistry finds every function complete and its name unique.
func TestRegistry(t *testing.T) {
	require.Positive(t, function.Count())
	names := map[string]bool{}
	for i := range function.Count() {
		f := function.At(i)
		assert.NotEmpty(t, f.Name)
		assert.False(t, names[f.Name], f.Name)
		names[f.Name] = true
		hosts := 0
		for _, is := range []bool{f.Float != nil, f.Floats != nil, f.Integer != nil, f.Integers != nil} {
			if is {
				hosts++
			}
		}
		require.Equal(t, 1, hosts, "%s has one computation on the host", f.Name)
		types := []function.Type{{}}
		if f.OfIntegers() {
			types = []function.Type{{Bits: 8, Signed: true}, {Bits: 32}, {Bits: 64, Signed: true}}
		}
		for _, of := range types {
			b := ptx.New("x")
			operands := []ptx.Register{"%first", "%second"}[:f.Operands()]
			assert.NotContains(t, operands, f.Write(b, of, operands), f.Name)
			assert.NotEmpty(t, b.Code(), f.Name)
		}
	}
	assert.Nil(t, function.At(function.Count()))
	assert.Nil(t, function.At(-1))
}

// named returns a function by its name.
func named(t *testing.T, name string) *function.Function {
	for i := range function.Count() {
		if f := function.At(i); f.Name == name {
			return f
		}
	}
	require.FailNow(t, "no function", name)
	return nil
}

func TestBits(t *testing.T) {
	popcount, hamming := named(t, "popcount").Integer, named(t, "hamming").Integers
	for _, c := range []struct {
		of         function.Type
		x, y       uint64
		ones, both uint64
	}{
		{function.Type{Bits: 8, Signed: true}, ^uint64(0), 0, 8, 8},
		{function.Type{Bits: 16}, 0xff00, 0x0ff0, 8, 8},
		{function.Type{Bits: 32, Signed: true}, 1<<63 | 1<<31, 1, 1, 2},
		{function.Type{Bits: 64}, math.MaxUint64, math.MaxUint64, 64, 0},
	} {
		assert.Equal(t, c.ones, popcount(c.of, c.x), "%+v", c)
		assert.Equal(t, c.both, hamming(c.of, c.x, c.y), "%+v", c)
	}
}

// TestGcd compares with math/big.
func TestGcd(t *testing.T) {
	gcd := named(t, "gcd").Integers
	property.Check(t, func(t *rapid.T) {
		integer := function.Type{Bits: 8 << rapid.IntRange(0, 3).Draw(t, "width"), Signed: rapid.Bool().Draw(t, "signed")}
		number := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 1000), rapid.Just(uint64(1)<<(integer.Bits-1)))
		common := rapid.Uint64Range(1, 1000).Draw(t, "common")
		operand := func(name string) (extended uint64, value *big.Int) {
			x := number.Draw(t, name) * common & integer.Mask()
			if integer.Signed && x>>(integer.Bits-1) == 1 {
				x |= ^integer.Mask()
				return x, big.NewInt(int64(x))
			}
			return x, new(big.Int).SetUint64(x)
		}
		x, first := operand("x")
		y, second := operand("y")
		want := new(big.Int).GCD(nil, nil, first.Abs(first), second.Abs(second)).Uint64()
		if got := gcd(integer, x, y); got&integer.Mask() != want&integer.Mask() {
			t.Fatalf("gcd(%v, %v) is %d, expected %d", first, second, got, want)
		}
	})
}

func TestHypot(t *testing.T) {
	hypot := named(t, "hypot").Floats
	infinity, nan := math.Inf(1), math.NaN()
	for _, c := range [][3]float64{
		{3, 4, 5}, {-4, 3, 5}, {0, 0, 0}, {math.Copysign(0, -1), 0, 0}, {0, -7, 7}, {1e300, 1e300, 1e300 * math.Sqrt2},
		{5e-324, 0, 5e-324}, {infinity, nan, infinity}, {nan, -infinity, infinity}, {infinity, infinity, infinity}, {infinity, 1, infinity},
	} {
		assert.Equal(t, c[2], hypot(c[0], c[1]), "%v", c)
	}
	for _, c := range [][2]float64{{nan, 1}, {0, nan}, {nan, 0}, {nan, nan}} {
		assert.True(t, math.IsNaN(hypot(c[0], c[1])), "%v", c)
	}
}

func TestLog10OfPowersOfTen(t *testing.T) {
	log10 := named(t, "log10").Float
	const leastExact, greatest = -308, 308 // powers below have few bits
	for n := leastExact; n <= greatest; n++ {
		x, err := strconv.ParseFloat("1e"+strconv.Itoa(n), 64)
		require.NoError(t, err)
		require.Equal(t, float64(n), log10(x))
	}
	assert.Zero(t, math.Float64bits(log10(1)))
	for _, x := range []float64{0, math.Copysign(0, -1)} {
		assert.Equal(t, math.Inf(-1), log10(x))
	}
	assert.Equal(t, math.Inf(1), log10(math.Inf(1)))
	for _, x := range []float64{-1, math.Inf(-1), math.NaN(), -5e-324} {
		assert.True(t, math.IsNaN(log10(x)), x)
	}
}

// TestLog10 compares with 300 bits, rounded once: a result differs by at most one unit in the last place.
func TestLog10(t *testing.T) {
	log10 := named(t, "log10").Float
	property.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(
			rapid.Custom(func(t *rapid.T) float64 {
				return math.Float64frombits(rapid.Uint64Range(1, math.Float64bits(math.MaxFloat64)).Draw(t, "bits"))
			}),
			rapid.Float64Range(0.5, 2),
			rapid.Map(rapid.Float64Range(-1, 1), func(x float64) float64 { return 1 + x*x*x*x*x*x*x }),
		).Draw(t, "x")
		got, want := log10(x), exprtest.Log10(x)
		below, above := math.Nextafter(want, math.Inf(-1)), math.Nextafter(want, math.Inf(1))
		if got < below || got > above {
			t.Fatalf("log10(%v) is %v, expected %v", x, got, want)
		}
	})
}
