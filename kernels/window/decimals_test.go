package window_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

var decimalTypes = []*arrow.Decimal128Type{{Precision: 9, Scale: 2}, {Precision: 38}, {Precision: 34, Scale: 30}, {Precision: 38, Scale: 17}}

// drawnDecimals makes decimals of all lengths, some of them null.
func drawnDecimals(r *rand.Rand, of *arrow.Decimal128Type, n int, nulls bool) arrow.Array {
	b := array.NewDecimal128Builder(arrowalloc.DefaultAllocator, of)
	defer b.Release()
	limit := powerOfTen(of.Precision)
	for range n {
		if nulls && r.IntN(5) == 0 {
			b.AppendNull()
			continue
		}
		x := new(big.Int).SetUint64(r.Uint64())
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(r.Uint64())).Rsh(x, uint(r.IntN(127)))
		if r.IntN(4) == 0 {
			x.Sub(limit, big.NewInt(int64(1+r.IntN(3))))
		}
		if x.Mod(x, limit); r.IntN(3) == 0 {
			x.Neg(x)
		}
		b.Append(decimal128.FromBigInt(x))
	}
	return b.NewArray()
}

func powerOfTen(n int32) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// decimalModel is the unscaled sum or mean of decimals, or nil if there are fewer than some, or if it
// has more than 38 digits.
func decimalModel(isMean bool, least int) func(w *modelWindow) any {
	return func(w *modelWindow) any {
		rows := w.valid()
		if len(rows) == 0 || len(rows) < least {
			return nil
		}
		result := new(big.Int)
		for _, row := range rows {
			result.Add(result, w.c.v.(*array.Decimal128).Value(row).BigInt())
		}
		if isMean {
			of := w.c.v.DataType().(*arrow.Decimal128Type)
			result.Mul(result, powerOfTen(aggregate.MeanOfDecimals(of).Scale-of.Scale))
			sign, count := int64(result.Sign()), big.NewInt(int64(len(rows)))
			rest := new(big.Int)
			result.QuoRem(result, count, rest)
			if rest.Lsh(rest, 1).CmpAbs(count) >= 0 {
				result.Add(result, big.NewInt(sign))
			}
		}
		if result.CmpAbs(powerOfTen(38)) >= 0 {
			return nil
		}
		return result.String()
	}
}

// withCount returns the first rows of a table with their number on the device, and releases the table.
func withCount(t *testing.T, mgr *memory.Manager, table *buffer.Buffer, count int) *buffer.Buffer {
	t.Helper()
	var columns []*column.Column
	for i := range table.NumColumns() {
		columns = append(columns, table.Column(i))
	}
	rows, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, rows.Upload(t.Context(), nil, []int64{int64(count)}))
	counted, err := buffer.New(table.Schema(), columns, buffer.Rows{Device: rows})
	require.NoError(t, err)
	require.NoError(t, rows.Release())
	require.NoError(t, table.Release())
	return counted
}

// TestDecimalsOfFrames compares sums and means of decimals with a quadratic model.
func TestDecimalsOfFrames(t *testing.T) {
	v := expr.Col("v")
	whole, upTo := rowsModel(math.MinInt64, math.MaxInt64), rowsModel(math.MinInt64, 0)
	turn := property.Turn(t)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		r := property.Random(t)
		g := arraytest.NewGenerator(r.Uint64())
		for i, of := range decimalTypes {
			lengths := []int{0, 1, 40}
			if (i+turn)%len(decimalTypes) == 0 {
				lengths = append(lengths, 2200) // longer than a tile
			}
			for _, n := range lengths {
				c := newOverCase(g, n, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64)
				if n > 1000 {
					c.partitions, c.orders = 2, true
				}
				c.v.Release()
				c.v = drawnDecimals(r, of, n, r.IntN(3) > 0)
				table := overTable(t, mgr, c)
				if n == 40 {
					c.rows = 1 + r.IntN(n)
					table = withCount(t, mgr, table, c.rows)
				}
				var tests []overTest
				add := func(f window.Function, frame func(*modelWindow, int) bool, isMean bool, least int) {
					tests = append(tests, overTest{f, c.each(frame, decimalModel(isMean, least))})
				}
				low := int64(r.IntN(9) - 6)
				high := low + int64(r.IntN(5))
				add(window.Mean(v).Rows(low, high), rowsModel(low, high), true, 0)
				add(window.Sum(v).Rows(low, high).AtLeast(2), rowsModel(low, high), false, 2)
				if n < 1000 {
					add(window.Mean(v), whole, true, 0)
					add(window.Sum(v), whole, false, 0)
					add(window.Sum(v).Rows(window.FirstRow, 0), upTo, false, 0)
				}
				add(window.Mean(v).Rows(window.FirstRow, 0).AtLeast(3), upTo, true, 3)
				if c.orders {
					add(window.Mean(v).Range(-2, 3), rangeModel(-2, 3), true, 0)
				}
				columns, err := window.Over(t.Context(), table, c.windows(), functionsOf(tests))
				require.NoError(t, err)
				for j, a := range arraysOf(t, columns) {
					f := tests[j].function
					want, err := f.Type(table.Schema(), c.windows())
					require.NoError(t, err)
					require.True(t, arrow.TypeEqual(want, a.DataType()), "%v of %v is %v", f, of, a.DataType())
					for row, x := range tests[j].want {
						require.Equal(t, x == nil, a.IsNull(row), "%v of %v, %d rows: row %d, the model has %v", f, of, n, row, x)
						if x != nil {
							require.Equal(t, x, fmt.Sprint(a.(*array.Decimal128).Value(row).BigInt()), "%v of %v, %d rows: row %d", f, of, n, row)
						}
					}
				}
				require.NoError(t, table.Release())
				c.release()
			}
		}
	})
}

// TestDurationsOfFrames requires that sums of durations are durations, and null if they overflow.
func TestDurationsOfFrames(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		v := columntest.ColumnOf(t, mgr, arrow.FixedWidthTypes.Duration_ms, []int64{5, -2, math.MaxInt64, 1, 7})
		table := columntest.TableOf(t, mgr, 5, v)
		name := expr.Col(table.Schema().Field(0).Name)
		columns, err := window.Over(t.Context(), table, window.Windows{}, []window.Function{window.Sum(name).Rows(window.FirstRow, 0), window.Sum(name).Rows(-1, 0)})
		require.NoError(t, err)
		for i, want := range []string{`[5 3 (null) (null) (null)]`, fmt.Sprintf(`[5 3 %d (null) 8]`, int64(math.MaxInt64-2))} {
			a, err := columns[i].Array(t.Context())
			require.NoError(t, err)
			require.True(t, arrow.TypeEqual(arrow.FixedWidthTypes.Duration_ms, a.DataType()))
			require.Equal(t, want, fmt.Sprint(a))
			a.Release()
			require.NoError(t, columns[i].Release())
		}
	})
}
