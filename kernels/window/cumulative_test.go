package window_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/race"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

var (
	integerTypes = []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
	}
	floatTypes    = []arrow.DataType{arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}
	decimalType   = &arrow.Decimal128Type{Precision: 30, Scale: 3}
	temporalTypes = []arrow.DataType{
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time64ns,
		arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Duration_ms, arrow.FixedWidthTypes.MonthInterval,
	}
	// lengths are around the sizes of warps, loads and tiles. One block handles up to
	// two tiles.
	lengths = []int{0, 1, 31, 33, 255, 257, 512, 4095, 4097, 8192, 8193, 16385, 33000}
)

// adversarial inserts edge cases into an array.
func adversarial(of arrow.DataType, in arrow.Array) arrow.Array {
	special := []float64{math.NaN(), 0, math.Copysign(0, -1), math.Inf(1), 1, -1, 5e-324, 6e-8, 65519, 1e300, -1e300, math.Inf(-1), 0.1}
	b := array.NewBuilder(arrowmemory, of)
	defer b.Release()
	for row := range in.Len() {
		x := special[row%len(special)]
		if row%7 != 0 {
			x = float(in, row)
		}
		switch {
		case in.IsNull(row):
			b.AppendNull()
		default:
			appendFloat(b, x)
		}
	}
	return b.NewArray()
}

func TestFloatExtremes(t *testing.T) {
	for name, of := range map[string]struct {
		run  operation
		fold func(a, b float64) float64
	}{"min": {window.CumulativeMin, lessFloat}, "max": {window.CumulativeMax, moreFloat}} {
		t.Run(name, func(t *testing.T) {
			devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
				mgr := devicetest.Manager(t, dev, memory.Options{})
				for _, dataType := range floatTypes {
					for _, s := range samples(t, dataType, lengthsFor(dev)...) {
						in := adversarial(dataType, s.array)
						for _, skip := range []bool{false, true} {
							got := onDevice(t, mgr, of.run, in, window.Options{SkipNulls: skip})
							want := cumulated(in, skip, func(row int) float64 { return float(in, row) }, of.fold)
							for row, x := range want {
								if got.IsNull(row) != (x == nil) || x != nil && !same(float(got, row), *x) {
									t.Fatalf("%s skip %v: row %d is %v, not %v", s.name, skip, row, got.ValueStr(row), x)
								}
							}
						}
						in.Release()
					}
				}
			})
		})
	}
}

// TestFloatSums compares with sequential sums. Rounding would depend on the order, so
// the numbers need no rounding.
func TestFloatSums(t *testing.T) {
	add := func(a, b float64) float64 { return a + b }
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, dataType := range floatTypes {
			for _, s := range samples(t, dataType, lengthsFor(dev)...) {
				b := array.NewBuilder(arrowmemory, dataType)
				for row := range s.array.Len() {
					if s.array.IsNull(row) {
						b.AppendNull()
					} else {
						appendFloat(b, float64(row*row%7-3)) // with small sums
					}
				}
				in := b.NewArray()
				b.Release()
				got := onDevice(t, mgr, window.CumulativeSum, in, window.Options{SkipNulls: true})
				want := cumulated(in, true, func(row int) float64 { return float(in, row) }, add)
				for row, x := range want {
					if x != nil && math.Abs(*x) > 2048 && dataType.ID() == arrow.FLOAT16 {
						break // the type does not represent all integers beyond 2048
					}
					if got.IsNull(row) != (x == nil) || x != nil && float(got, row) != *x {
						t.Fatalf("%s: row %d is %v, not %v", s.name, row, got.ValueStr(row), x)
					}
				}
				in.Release()
			}
		}
	})
}

// TestFloatsSameEverywhere compares the bits with the host's result.
func TestFloatsSameEverywhere(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for name, run := range map[string]operation{"sum": window.CumulativeSum, "product": window.CumulativeProduct} {
			for _, dataType := range floatTypes {
				for _, s := range samples(t, dataType, lengthsFor(dev)...) {
					arrays := []arrow.Array{s.array, adversarial(dataType, s.array)}
					for i, in := range arrays {
						if testing.Short() && devicetest.Emulated(dev) && i == 0 && in.Len() > 5000 {
							continue
						}
						options := window.Options{SkipNulls: true}
						got, want := onDevice(t, mgr, run, in, options), onDevice(t, host, run, in, options)
						for row := range in.Len() {
							require.Equal(t, want.IsNull(row), got.IsNull(row))
							if want.IsValid(row) && !same(float(want, row), float(got, row)) {
								t.Fatalf("%s %s: row %d is %v, on the host %v", name, s.name, row, got.ValueStr(row), want.ValueStr(row))
							}
						}
					}
					arrays[1].Release()
				}
			}
		}
	})
}

// TestFloatSumIsAccurate compares a sum of many numbers with the exact sum.
func TestFloatSumIsAccurate(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		n := 70_000
		if race.Enabled {
			n = 10_000
		}
		b32, b64 := array.NewFloat32Builder(arrowmemory), array.NewFloat64Builder(arrowmemory)
		defer b32.Release()
		defer b64.Release()
		for row := range n {
			b32.Append(0.1 + float32(row%3))
			b64.Append(0.1 + float64(row%3))
		}
		for _, b := range []array.Builder{b32, b64} {
			in := b.NewArray()
			defer in.Release()
			got := onDevice(t, mgr, window.CumulativeSum, in, window.Options{})
			exact := new(big.Float).SetPrec(200)
			for row := range n {
				exact.Add(exact, big.NewFloat(float(in, row)))
				want, _ := exact.Float64()
				tolerance := 1e-14
				if in.DataType().ID() == arrow.FLOAT32 {
					tolerance = 6e-8
				}
				require.InEpsilon(t, want, float(got, row), tolerance, "row %d", row)
			}
		}
	})
}
