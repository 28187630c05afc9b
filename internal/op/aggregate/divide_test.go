package aggregate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/ptx"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// dividing returns a kernel, for blocks of 256 threads, that divides x by y.
func dividing() string {
	b := ptx.New("k")
	thread := b.Op(ptx.Word32, "mov.u32", "%tid.x")
	i := b.Op(ptx.Word32, "mad.lo.u32", b.Op(ptx.Word32, "mov.u32", "%ctaid.x"), "256", thread)
	place := func(name string) ptx.Register {
		return "[" + b.Op(ptx.Word64, "mad.wide.u32", i, "8", b.Op(ptx.Word64, "ld.param.u64", ptx.Register("["+name+"]"))) + "]"
	}
	x := b.Op(ptx.Word64, "ld.global.b64", place("x"))
	y := b.Op(ptx.Word64, "cvt.rn.f64.u64", b.Op(ptx.Word64, "ld.global.b64", place("y")))
	b.Void("st.global.b64", place("quotient"), aggregate.DivideByCount(b, x, y))
	b.Emit("ret")
	return ptx.Module(ptx.Kernel{Name: "divide", Threads: 256, Body: b, Parameters: []ptx.Parameter{
		{Name: "x", Bytes: 8}, {Name: "y", Bytes: 8}, {Name: "quotient", Bytes: 8},
	}}.String())
}

// TestDivideByCount compares with the host's division. All bits must be equal, except
// in subnormal quotients.
func TestDivideByCount(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		n := 1 << 16
		if !devicetest.Emulated(dev) {
			n = 1 << 24
		}
		random := rand.New(rand.NewPCG(1, 2))
		specials := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, 0x1p-1022, 0x1.fffffffffffffp-1022,
			0x1p-900, 0x1.fffffffffffffp-901, -0x1p-900, math.MaxFloat64, -math.MaxFloat64, 1, -1, 3, 1e300}
		counts := []uint64{1, 2, 3, 5, 7, 10, 1 << 20, 1<<52 - 1, 1<<53 - 1, 1<<53 + 1, math.MaxUint64, math.MaxUint64 / 3}
		xs, ys, got := make([]float64, n), make([]uint64, n), make([]float64, n)
		for i := range xs {
			xs[i], ys[i] = math.Float64frombits(random.Uint64()), max(random.Uint64()>>random.IntN(64), 1)
			switch random.IntN(4) {
			case 0:
				xs[i] = specials[random.IntN(len(specials))]
			case 1:
				ys[i] = counts[random.IntN(len(counts))]
			case 2: // whole numbers, as counts and values are
				xs[i] = float64(random.Uint64N(ys[i]))
			}
		}
		mgr := devicetest.Manager(t, dev, memory.Options{})
		loaded, err := kernels.LoadCached(dev, dividing())
		require.NoError(t, err)
		function, err := loaded.Function("divide")
		require.NoError(t, err)
		x, y, quotient := upload(t, mgr, xs), upload(t, mgr, ys), upload(t, mgr, got)
		require.NoError(t, function.Launch(nil, device.Dim3{X: uint32(n / 256)}, device.Dim3{X: 256}, 0, x, y, quotient))
		require.NoError(t, quotient.Download(t.Context(), nil, got))
		for i, want := range xs {
			want = aggregate.DivideByCountHost(want, ys[i])
			if math.Float64bits(want) != math.Float64bits(got[i]) && (want == want || got[i] == got[i]) {
				require.FailNowf(t, "quotient", "%b / %d is %b, not %b", xs[i], ys[i], got[i], want)
			}
			if exact := xs[i] / float64(ys[i]); exact != want && math.Abs(exact) >= 0x1p-1021 {
				require.FailNowf(t, "on the host", "%b / %d is %b, not %b", xs[i], ys[i], want, exact)
			}
		}
	})
}

func upload[T memory.Element](t *testing.T, mgr *memory.Manager, values []T) memory.Slice[T] {
	t.Helper()
	s, err := memory.NewSlice[T](mgr, len(values), memory.AllocateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Release()) })
	require.NoError(t, s.Upload(t.Context(), nil, values))
	return s
}
