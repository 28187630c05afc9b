package window_test

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/optest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// foldLengths and fillLengths are around the sizes of loads and tiles. One block
// handles up to two tiles. The first length needs more blocks for 64-bit integers, the
// first type of all tests.
var (
	foldLengths = []int{8193, 33_000, 4095, 4097, 16_385}
	fillLengths = []int{16_385, 33_000, 4095, 4097, 8193}
)

// TestIntegers tests the cumulative operators on all types except floats.
func TestIntegers(t *testing.T) {
	sums := append([]arrow.DataType{arrow.PrimitiveTypes.Int64, decimalType, arrow.FixedWidthTypes.Duration_s}, integerTypes...)
	all := append(append([]arrow.DataType{arrow.PrimitiveTypes.Int64, decimalType}, integerTypes...), temporalTypes...)
	text := arrow.DataType(arrow.BinaryTypes.String)
	numbers := append([]arrow.DataType{arrow.PrimitiveTypes.Int64}, integerTypes...)
	for _, of := range []struct {
		name, says string
		run        operation
		fold       func(a, b *big.Int) *big.Int
		types      []arrow.DataType
		refused    []arrow.DataType
	}{
		{"sum", "cumulative sum", window.CumulativeSum, add, sums, []arrow.DataType{text, arrow.FixedWidthTypes.Date32}},
		{"product", "cumulative product", window.CumulativeProduct, multiply, numbers, []arrow.DataType{text, decimalType}},
		{"min", "cumulative minimum", window.CumulativeMin, least, all, []arrow.DataType{text}},
		{"max", "cumulative maximum", window.CumulativeMax, most, all, []arrow.DataType{text}},
		{"xor", "cumulative xor", window.CumulativeXor, exclusiveOr, numbers,
			[]arrow.DataType{text, decimalType, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean}},
	} {
		for _, skip := range []bool{false, true} {
			t.Run(of.name+map[bool]string{true: " skipping nulls"}[skip], func(t *testing.T) {
				optest.Run(t, optest.Spec{
					Name: "window: " + of.says, Types: of.types, Refused: of.refused, Lengths: foldLengths, Pipeline: "cumulative",
					Run: func(ctx context.Context, c *column.Column, o kernels.Options) (*column.Column, error) {
						return of.run(ctx, c, window.Options{Options: o, SkipNulls: skip})
					},
				}, func(in arrow.Array) arrow.Array {
					fold := func(a, b *big.Int) *big.Int { return wrapped(in.DataType(), of.fold(a, b)) }
					rows := make([][]byte, in.Len())
					for row, x := range cumulated(in, skip, func(row int) *big.Int { return integer(in, row) }, fold) {
						if x != nil {
							rows[row] = stored(in.DataType(), *x)
						}
					}
					return optest.Fixed(in.DataType(), rows)
				})
			})
		}
	}
}

func add(a, b *big.Int) *big.Int         { return new(big.Int).Add(a, b) }
func multiply(a, b *big.Int) *big.Int    { return new(big.Int).Mul(a, b) }
func exclusiveOr(a, b *big.Int) *big.Int { return new(big.Int).Xor(a, b) }

func least(a, b *big.Int) *big.Int {
	if b.Cmp(a) < 0 {
		return b
	}
	return a
}

func most(a, b *big.Int) *big.Int {
	if b.Cmp(a) > 0 {
		return b
	}
	return a
}

// stored returns the bytes of an integer in the range of a type.
func stored(of arrow.DataType, x *big.Int) []byte {
	width := of.(arrow.FixedWidthDataType).BitWidth() / 8
	if x.Sign() < 0 {
		x = new(big.Int).Add(x, new(big.Int).Lsh(one, uint(8*width)))
	}
	bytes := x.FillBytes(make([]byte, width))
	slices.Reverse(bytes)
	return bytes
}

// TestFill tests the fills on types of all widths.
func TestFill(t *testing.T) {
	types := append(append([]arrow.DataType{arrow.PrimitiveTypes.Int64, decimalType, &arrow.Decimal256Type{Precision: 60}, arrow.FixedWidthTypes.Boolean},
		integerTypes...), floatTypes...)
	for name, run := range map[string]operation{"forward": window.FillForward, "backward": window.FillBackward} {
		t.Run(name, func(t *testing.T) {
			optest.Run(t, optest.Spec{
				Name: "window: fill " + name, Types: types, Lengths: fillLengths, Pipeline: "fill",
				Refused: []arrow.DataType{arrow.BinaryTypes.String, &arrow.FixedSizeBinaryType{ByteWidth: 5}},
				Run: func(ctx context.Context, c *column.Column, o kernels.Options) (*column.Column, error) {
					return run(ctx, c, window.Options{Options: o})
				},
			}, func(in arrow.Array) arrow.Array {
				rows := make([][]byte, in.Len())
				for row, from := range filledFrom(in, name == "backward") {
					if from >= 0 {
						rows[row] = optest.Bytes(in, from)
					}
				}
				return optest.Fixed(in.DataType(), rows)
			})
		})
	}
}
