package reduce_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// adversaries returns floats for which each order of additions gives a different sum:
// all magnitudes, both signs and, if specials is true, NaN, infinities and other
// special values.
func adversaries(r *rand.Rand, n int, specials bool) (arrow.Array, arrow.Array) {
	wide, narrow := array.NewFloat64Builder(arrowmemory.DefaultAllocator), array.NewFloat32Builder(arrowmemory.DefaultAllocator)
	defer wide.Release()
	defer narrow.Release()
	list := []float64{0, math.Copysign(0, -1), math.NaN(), -math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324, 0x1p-149}
	for range n {
		x := math.Ldexp(r.NormFloat64(), r.IntN(200)-100)
		if specials && r.IntN(50) == 0 {
			x = list[r.IntN(len(list))]
		}
		if r.IntN(5) == 0 {
			wide.AppendNull()
			narrow.AppendNull()
			continue
		}
		wide.Append(x)
		narrow.Append(float32(x))
	}
	return wide.NewArray(), narrow.NewArray()
}

// TestFloatsAgreeBitForBit compares a device with the host, for one part and for
// several parts of rows.
func TestFloatsAgreeBitForBit(t *testing.T) {
	x, y := expr.Col("0"), expr.Col("1")
	var aggregates []reduce.Aggregate
	for _, e := range []expr.Expr{x, y, x.Mul(y)} {
		aggregates = append(aggregates, reduce.Sum(e), reduce.Mean(e), reduce.Product(e), reduce.Variance(e, 0), reduce.StdDev(e, 3),
			reduce.Min(e), reduce.Max(e), reduce.ArgMin(e), reduce.ArgMax(e))
	}
	aggregates = append(aggregates, reduce.Where(y.Gt(expr.Lit(0.0)), reduce.Sum(x), reduce.Product(x), reduce.Variance(x, 1))...)
	compute := func(t *testing.T, dev *device.Device, wide, narrow arrow.Array) []string {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := load(t, mgr, wide.Len(), wide, narrow)
		defer func() { require.NoError(t, table.Release()) }()
		results, err := reduce.Scalars(t.Context(), table, aggregates)
		require.NoError(t, err)
		bits := make([]string, len(results))
		for i, s := range results {
			bits[i] = fmt.Sprintf("%v: %v", aggregates[i], s)
			if s.IsValid() {
				a, err := bitsOf(s)
				require.NoError(t, err)
				bits[i] += fmt.Sprintf(" %x", a)
			}
		}
		return bits
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		sizes := []int{0, 1, 31, 256, 257, 4096, 4097, 13000, 3 * 4096, 40000}
		if dev.Kind() == device.CUDA && !devicetest.Emulated(dev) {
			sizes = append(sizes, 1<<20, 3_000_001, 1<<24+1)
		}
		host := devicetest.Open(t, "host")
		for _, n := range sizes {
			for _, specials := range []bool{false, true} {
				wide, narrow := adversaries(rand.New(rand.NewPCG(uint64(n), 1)), n, specials)
				require.Equal(t, compute(t, host, wide, narrow), compute(t, dev, wide, narrow), "%d rows", n)
				wide.Release()
				narrow.Release()
			}
		}
	})
}

// TestSumErrorBound checks the error bound in the documentation.
func TestSumErrorBound(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		n := 50_000
		wide, narrow := adversaries(rand.New(rand.NewPCG(5, 1)), n, false)
		defer wide.Release()
		defer narrow.Release()
		table := load(t, mgr, n, wide)
		defer func() { require.NoError(t, table.Release()) }()
		results, err := reduce.Scalars(t.Context(), table, []reduce.Aggregate{reduce.Sum(expr.Col("0"))})
		require.NoError(t, err)
		got, err := floatOf(results[0])
		require.NoError(t, err)
		all := cells(t, wide)
		every := make([]bool, n)
		for i := range every {
			every[i] = true
		}
		numbers, _ := kept(all, every)
		sum, magnitudes := total(numbers)
		want, _ := sum.Float64()
		most, _ := magnitudes.Float64()
		require.InDelta(t, want, got, most*(float64(n)/(1<<20)+48)*0x1p-53)
	})
}

// TestVarianceOfNearlyEqualValues has values for which a sum of squares loses all
// precision.
func TestVarianceOfNearlyEqualValues(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		b := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
		defer b.Release()
		for i := range 20_000 {
			b.Append(1e9 + float64(i%2))
		}
		a := b.NewArray()
		defer a.Release()
		table := load(t, mgr, a.Len(), a)
		defer func() { require.NoError(t, table.Release()) }()
		results, err := reduce.Scalars(t.Context(), table, []reduce.Aggregate{reduce.Variance(expr.Col("0"), 0)})
		require.NoError(t, err)
		got, err := floatOf(results[0])
		require.NoError(t, err)
		require.InDelta(t, 0.25, got, 1e-12)
	})
}
