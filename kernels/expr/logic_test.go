package expr_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/exprtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// TestLogicIsArrows compares the truth tables with arrow-go's compute functions, of
// columns, and of a column and a literal.
func TestLogicIsArrows(t *testing.T) {
	left := fromJSON(t, boolean, "[true, true, true, false, false, false, null, null, null]")
	right := fromJSON(t, boolean, "[true, false, null, true, false, null, true, false, null]")
	cases := map[string]func(x, y expr.Expr) expr.Expr{
		"and_kleene": expr.Expr.And, "or_kleene": expr.Expr.Or, "and": expr.Expr.AndStrict, "or": expr.Expr.OrStrict, "xor": expr.Expr.Xor,
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := tableOf(t, mgr, left, right)
		for name, operation := range cases {
			want, err := compute.CallFunction(ctx, name, nil, compute.NewDatumWithoutOwning(left), compute.NewDatumWithoutOwning(right))
			require.NoError(t, err)
			all := want.(*compute.ArrayDatum).MakeArray()
			got, err := expr.Evaluate(ctx, table, []expr.Expr{
				operation(a, b), operation(a, expr.Lit(true)), operation(a, expr.Lit(false)), operation(a, expr.Null(boolean)),
			})
			require.NoError(t, err)
			exprtest.Compare(t, all, arrayOf(t, got[0]), 0)
			for i, literal := range []int64{0, 1, 2} { // of the right column's values
				rows := array.NewSlice(all, 0, 9)
				alone := arrayOf(t, got[i+1])
				for row := range int64(9) {
					require.Equal(t, exprtest.Cell(rows, int(row/3*3+literal)), exprtest.Cell(alone, int(row)), "%s of row %d and literal %d", name, row, i)
				}
			}
			for _, c := range got {
				require.NoError(t, c.Release())
			}
		}
	})
}

// TestIntegersCompareExactly compares integers of all pairs of types with big.Int.
func TestIntegersCompareExactly(t *testing.T) {
	types := []arrow.DataType{i8, i16, i32, i64, u8, u16, u32, u64}
	var numbers []*big.Int
	for _, near := range []*big.Int{
		new(big.Int), big.NewInt(math.MaxInt8), big.NewInt(math.MaxUint8), big.NewInt(math.MaxInt16), big.NewInt(math.MaxUint16),
		big.NewInt(math.MaxInt32), big.NewInt(math.MaxUint32), big.NewInt(math.MaxInt64), new(big.Int).SetUint64(math.MaxUint64),
	} {
		for _, x := range []*big.Int{near, new(big.Int).Add(near, big.NewInt(1))} {
			numbers = append(numbers, x, new(big.Int).Neg(x))
		}
	}
	holds := []func(order int) bool{
		func(order int) bool { return order == 0 }, func(order int) bool { return order != 0 },
		func(order int) bool { return order < 0 }, func(order int) bool { return order <= 0 },
		func(order int) bool { return order > 0 }, func(order int) bool { return order >= 0 },
	}
	comparisons := []expr.Expr{a.Eq(b), a.Ne(b), a.Lt(b), a.Le(b), a.Gt(b), a.Ge(b)}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, left := range types {
			for _, right := range types {
				var pairs [][2]*big.Int
				for _, x := range append(holdable(left, numbers), nil) {
					for _, y := range append(holdable(right, numbers), nil) {
						pairs = append(pairs, [2]*big.Int{x, y})
					}
				}
				table := tableOf(t, mgr, integersOf(t, left, pairs, 0), integersOf(t, right, pairs, 1))
				got, err := expr.Evaluate(ctx, table, comparisons)
				require.NoError(t, err)
				for i, c := range got {
					values := arrayOf(t, c)
					for row, pair := range pairs {
						var want any
						if pair[0] != nil && pair[1] != nil {
							want = holds[i](pair[0].Cmp(pair[1]))
						}
						require.Equal(t, want, exprtest.Cell(values, row), "%v of %v and %v: %v, %v", comparisons[i], left, right, pair[0], pair[1])
					}
					require.NoError(t, c.Release())
				}
			}
		}
	})
}

// TestUint64BesideLiterals compares columns with literals that their type cannot
// hold.
func TestUint64BesideLiterals(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table := tableOf(t, mgr, fromJSON(t, u64, "[0, 18446744073709551615, null]"), fromJSON(t, i64, "[-1, 9223372036854775807, null]"))
		got, err := expr.Evaluate(ctx, table, []expr.Expr{a.Gt(expr.Lit(-1)), expr.Lit(-1).Ge(a), b.Lt(expr.Lit(uint64(math.MaxUint64))), expr.Lit(uint64(1 << 63)).Le(b)})
		require.NoError(t, err)
		for i, want := range []string{"[true true (null)]", "[false false (null)]", "[true true (null)]", "[false false (null)]"} {
			require.Equal(t, want, arrayOf(t, got[i]).String())
			require.NoError(t, got[i].Release())
		}
	})
}

// holdable returns those of the numbers that a type holds.
func holdable(t arrow.DataType, numbers []*big.Int) (held []*big.Int) {
	bits := uint(t.(arrow.FixedWidthDataType).BitWidth())
	least, most := new(big.Int), new(big.Int).Lsh(big.NewInt(1), bits)
	if arrow.IsSignedInteger(t.ID()) {
		most.Rsh(most, 1)
		least.Neg(most)
	}
	for _, x := range numbers {
		if x.Cmp(least) >= 0 && x.Cmp(most) < 0 {
			held = append(held, x)
		}
	}
	return held
}

// integersOf makes an array of one side of the pairs, nil for null.
func integersOf(t *testing.T, dataType arrow.DataType, pairs [][2]*big.Int, side int) arrow.Array {
	builder := array.NewBuilder(arrowmemory.DefaultAllocator, dataType)
	defer builder.Release()
	for _, pair := range pairs {
		if pair[side] == nil {
			builder.AppendNull()
			continue
		}
		require.NoError(t, builder.AppendValueFromString(pair[side].String()))
	}
	return builder.NewArray()
}
