package kerneltest

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFloatToInteger compares with a model that uses big numbers.
func TestFloatToInteger(t *testing.T) {
	b := open(t, Options{})
	whole := map[string]func(float64) float64{"rni": math.RoundToEven, "rzi": math.Trunc, "rmi": math.Floor, "rpi": math.Ceil}
	for _, from := range []int{32, 64} {
		for _, to := range []typ{{signedClass, 8}, {unsignedClass, 8}, {signedClass, 16}, {unsignedClass, 16}, {signedClass, 32}, {unsignedClass, 32}, {signedClass, 64}, {unsignedClass, 64}} {
			kind := map[bool]string{true: "s", false: "u"}[to.signed()]
			for way, f := range whole {
				// The 64-bit register shows the extension.
				code := fmt.Sprintf("mov.b64 %%e0, %%a; cvt.%s.%s%d.f64 %%d, %%e0;", way, kind, to.bits)
				if from == 32 {
					code = fmt.Sprintf("cvt.u32.u64 %%r0, %%a; mov.b32 %%f0, %%r0; cvt.%s.%s%d.f32 %%d, %%f0;", way, kind, to.bits)
				}
				rows := floatOperands(from)
				for i, got := range b.each(code, rows) {
					x := math.Float64frombits(rows[i][0])
					if from == 32 {
						x = float64(math.Float32frombits(uint32(rows[i][0])))
					}
					var want uint64
					least, end := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(to.bits))
					if to.signed() {
						end.Rsh(end, 1)
						least.Neg(end)
					}
					most := new(big.Int).Sub(end, big.NewInt(1))
					switch {
					case x != x && (from == 64 || to.bits == 64):
						want = extend(to, 1<<(to.bits-1))
					case x != x:
					case math.IsInf(x, 1):
						want = most.Uint64()
					case math.IsInf(x, -1):
						want = uint64(least.Int64())
					default:
						n, _ := big.NewFloat(f(x)).Int(nil)
						if n.Cmp(least) < 0 {
							n = least
						}
						if n.Cmp(most) > 0 {
							n = most
						}
						want = n.Uint64()
						if n.Sign() < 0 {
							want = uint64(n.Int64())
						}
					}
					require.Equal(t, want, got, "%s of %v", code, x)
				}
			}
		}
	}
}

func TestIntegerToFloat(t *testing.T) {
	b := open(t, Options{})
	modes := map[string]big.RoundingMode{"rn": big.ToNearestEven, "rz": big.ToZero, "rm": big.ToNegativeInf, "rp": big.ToPositiveInf}
	for way, mode := range modes {
		for _, signed := range []bool{true, false} {
			for _, width := range []int{32, 64} {
				code := fmt.Sprintf("cvt.%s.f64.%s %%e0, %%a; mov.b64 %%d, %%e0;", way, map[bool]string{true: "s64", false: "u64"}[signed])
				if width == 32 {
					code = fmt.Sprintf("cvt.%s.f32.%s %%f0, %%a; mov.b32 %%r0, %%f0; cvt.u64.u32 %%d, %%r0;", way, map[bool]string{true: "s64", false: "u64"}[signed])
				}
				rows := operands()
				for i, got := range b.each(code, rows) {
					n := new(big.Float).SetPrec(64).SetUint64(rows[i][0])
					if signed {
						n.SetInt64(int64(rows[i][0]))
					}
					digits := map[int]uint{32: 24, 64: 53}[width]
					want, _ := new(big.Float).SetPrec(digits).SetMode(mode).Set(n).Float64()
					have := math.Float64frombits(got)
					if width == 32 {
						have = float64(math.Float32frombits(uint32(got)))
					}
					require.Equal(t, want, have, "%s of %#x", code, rows[i][0])
				}
			}
		}
	}
}

func TestFloatToFloat(t *testing.T) {
	b := open(t, Options{})
	rows := floatOperands(64)
	for i, got := range b.each("mov.b64 %e0, %a; cvt.rn.f32.f64 %f0, %e0; cvt.f64.f32 %e1, %f0; mov.b64 %d, %e1;", rows) {
		want := float64(float32(math.Float64frombits(rows[i][0])))
		require.True(t, sameFloat(want, math.Float64frombits(got)))
	}
	for i, got := range b.each("mov.b64 %e0, %a; cvt.rz.f32.f64 %f0, %e0; cvt.f64.f32 %e1, %f0; mov.b64 %d, %e1;", rows) {
		x := math.Float64frombits(rows[i][0])
		want := float64(float32(x))
		if math.Abs(want) > math.Abs(x) {
			want = float64(math.Nextafter32(float32(x), 0))
		}
		require.True(t, sameFloat(want, math.Float64frombits(got)), "%v: %v", x, math.Float64frombits(got))
	}
	for way, f := range map[string]func(float64) float64{"rni": math.RoundToEven, "rzi": math.Trunc, "rmi": math.Floor, "rpi": math.Ceil} {
		floats64(t, b, "cvt."+way+".f64.f64 %e3, %e0;", func(x, _, _ float64) float64 { return f(x) })
		floats32(t, b, "cvt."+way+".f32.f32 %f3, %f0;", func(x, _, _ float32) float32 { return float32(f(float64(x))) })
	}
	floats32(t, b, "cvt.sat.f32.f32 %f3, %f0;", func(x, _, _ float32) float32 {
		if x > 0 {
			return min(x, 1)
		}
		return 0
	})
}

func TestHalf(t *testing.T) {
	b := open(t, Options{})
	var rows [][3]uint64
	for x := range uint64(1 << 16) {
		rows = append(rows, [3]uint64{x})
	}
	for i, got := range b.each("cvt.u16.u64 %h0, %a; cvt.f32.f16 %f0, %h0; cvt.rn.f16.f32 %h1, %f0; cvt.u64.u16 %d, %h1;", rows) {
		want := rows[i][0]
		if want&0x7fff > 0x7c00 {
			want = 0x7fff
		}
		require.Equal(t, want, got)
	}
	got := b.each("mov.b64 %e0, %a; cvt.rn.f16.f64 %h1, %e0; cvt.u64.u16 %d, %h1;", [][3]uint64{
		{math.Float64bits(65519)}, {math.Float64bits(65520)}, {math.Float64bits(1.00048828125)}, {math.Float64bits(math.Ldexp(1, -25))}, {math.Float64bits(math.Ldexp(1.5, -25))}})
	require.Equal(t, []uint64{0x7bff, 0x7c00, 0x3c00, 0, 1}, got)
}

func TestIntegerToInteger(t *testing.T) {
	b := open(t, Options{})
	rows := operands()
	for code, want := range map[string]func(x uint64) uint64{
		"cvt.u64.u8 %d, %a;":      func(x uint64) uint64 { return uint64(uint8(x)) },
		"cvt.s64.s8 %d, %a;":      func(x uint64) uint64 { return uint64(int8(x)) },
		"cvt.s64.s32 %d, %a;":     func(x uint64) uint64 { return uint64(int32(x)) },
		"cvt.s8.s64 %d, %a;":      func(x uint64) uint64 { return uint64(int8(x)) },
		"cvt.sat.s8.s64 %d, %a;":  func(x uint64) uint64 { return uint64(max(min(int64(x), 127), -128)) },
		"cvt.sat.u8.s64 %d, %a;":  func(x uint64) uint64 { return uint64(max(min(int64(x), 255), 0)) },
		"cvt.sat.s32.u64 %d, %a;": func(x uint64) uint64 { return min(x, math.MaxInt32) },
		"cvt.sat.u64.s64 %d, %a;": func(x uint64) uint64 { return uint64(max(int64(x), 0)) },
		"cvt.u16.u64 %h1, %a; cvt.s16.s8 %h2, %h1; cvt.u64.u16 %d, %h2;": func(x uint64) uint64 { return uint64(uint16(int8(x))) },
	} {
		for i, got := range b.each(code, rows) {
			require.Equal(t, want(rows[i][0]), got, "%s of %#x", code, rows[i][0])
		}
	}
}
