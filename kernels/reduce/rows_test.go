package reduce_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// withCount returns a table with its number of rows on the device.
func withCount(t *testing.T, mgr *memory.Manager, table *buffer.Buffer, count int64) *buffer.Buffer {
	t.Helper()
	rows, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, rows.Upload(t.Context(), nil, []int64{count}))
	columns := make([]*column.Column, table.NumColumns())
	for i := range columns {
		columns[i] = table.Column(i)
	}
	counted, err := buffer.New(table.Schema(), columns, buffer.Rows{Device: rows})
	require.NoError(t, err)
	require.NoError(t, rows.Release())
	return counted
}

func TestRowsThatOnlyTheDeviceKnows(t *testing.T) {
	x := expr.Col("0")
	aggregates := []reduce.Aggregate{reduce.Sum(x), reduce.Count(x), reduce.CountAll(), reduce.Max(x), reduce.ArgMax(x), reduce.Variance(x, 0)}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, capacity := range []int{100, 20_000} {
			a := values(arraytest.NewGenerator(7), arrow.PrimitiveTypes.Int32, capacity)
			table := load(t, mgr, capacity, a)
			for _, count := range []int64{0, 1, 99, 4096, 5000, 20_000, 30_000, -1} {
				n := min(max(count, 0), int64(capacity))
				known, err := table.Slice(0, n)
				require.NoError(t, err)
				counted := withCount(t, mgr, table, count)

				want, err := reduce.Scalars(t.Context(), known, aggregates)
				require.NoError(t, err)
				got, err := reduce.Scalars(t.Context(), counted, aggregates)
				if n != count && dev.Kind() == device.Host { // a GPU clamps it to the valid range
					require.ErrorIs(t, err, buffer.ErrRows)
					require.NoError(t, known.Release())
					require.NoError(t, counted.Release())
					continue
				}
				require.NoError(t, err)
				for i := range want {
					require.True(t, scalar.Equals(want[i], got[i]), "%v of %d of %d rows: %v, not %v", aggregates[i], count, capacity, got[i], want[i])
				}
				all, err := reduce.Scalars(t.Context(), counted, []reduce.Aggregate{reduce.CountAll()})
				require.NoError(t, err)
				require.Equal(t, n, all[0].(*scalar.Int64).Value)
				only, err := reduce.Column(t.Context(), counted.Column(0), reduce.Sum)
				require.NoError(t, err)
				back, err := only.Array(t.Context())
				require.NoError(t, err)
				sum, err := scalar.GetScalar(back, 0)
				require.NoError(t, err)
				require.True(t, scalar.Equals(want[0], sum), "the column alone: sum of %d of %d rows: %v, not %v", count, capacity, sum, want[0])
				back.Release()
				require.NoError(t, only.Release())
				require.NoError(t, known.Release())
				require.NoError(t, counted.Release())
			}
			require.NoError(t, table.Release())
			a.Release()
		}
	})
}

func TestTableWithoutColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table, err := buffer.New(arrow.NewSchema(nil, nil), nil, buffer.Rows{Count: 12})
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		_, err = reduce.Table(t.Context(), table, []reduce.Aggregate{reduce.CountAll()})
		require.ErrorIs(t, err, device.ErrInvalidValue)
		require.ErrorContains(t, err, "Manager")
		managed, err := buffer.New(arrow.NewSchema(nil, nil), nil, buffer.Rows{Count: 3, Manager: mgr})
		require.NoError(t, err)
		three, err := reduce.Scalars(t.Context(), managed, []reduce.Aggregate{reduce.CountAll()})
		require.NoError(t, err)
		require.EqualValues(t, 3, three[0].(*scalar.Int64).Value)
		require.NoError(t, managed.Release())
		got, err := reduce.Scalars(t.Context(), table, []reduce.Aggregate{reduce.CountAll()}, kernels.Options{Manager: mgr})
		require.NoError(t, err)
		require.EqualValues(t, 12, got[0].(*scalar.Int64).Value)
	})
}

// TestEveryType counts columns of all types, and takes the maximum of those with an
// order. Expressions treat many of these types as one.
func TestEveryType(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, kind := range arraytest.AllTypes() {
			if kind.ID() == arrow.NULL {
				continue // has no memory: see TestNullColumn
			}
			a := arraytest.NewGenerator(3).Array(kind, 1000)
			c, err := column.FromArray(t.Context(), mgr, a, column.UploadOptions{})
			require.NoError(t, err)
			got, err := reduce.Column(t.Context(), c, reduce.CountNull)
			require.NoError(t, err, "%v", kind)
			back, err := got.Array(t.Context())
			require.NoError(t, err)
			require.Equal(t, small(int64(a.NullN())).String(), cells(t, back)[0].String(), "%v", kind)
			back.Release()
			require.NoError(t, got.Release())

			greatest, err := reduce.Column(t.Context(), c, reduce.Max)
			if err == nil {
				require.True(t, arrow.TypeEqual(kind, greatest.Type()), "%v", greatest)
			} else {
				require.ErrorIs(t, err, device.ErrNotSupported, "%v", kind)
			}
			require.NoError(t, greatest.Release())
			require.NoError(t, c.Release())
			a.Release()
		}
	})
}

func TestNullColumn(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		a := array.NewNull(5000)
		c, err := column.FromArray(t.Context(), mgr, a, column.UploadOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Release()) }()
		for want, aggregate := range map[string]func(expr.Expr) reduce.Aggregate{"5000": reduce.CountNull, "0": reduce.Count} {
			got, err := reduce.Column(t.Context(), c, aggregate)
			require.NoError(t, err)
			back, err := got.Array(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, cells(t, back)[0].String())
			back.Release()
			require.NoError(t, got.Release())
		}
	})
}

// TestNullsAmongTheValuesOfADictionary checks that they count as nulls, like nulls
// among the indices.
func TestNullsAmongTheValuesOfADictionary(t *testing.T) {
	values := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	defer values.Release()
	values.AppendValues([]string{"a", "", "c"}, []bool{true, false, true})
	indices := array.NewInt8Builder(arrowmemory.DefaultAllocator)
	defer indices.Release()
	indices.AppendValues([]int8{0, 1, 2, 1, 0, 0}, []bool{true, true, true, true, false, true})
	kind := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	a := array.NewDictionaryArray(kind, indices.NewArray(), values.NewArray())
	defer a.Release()
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		c, err := column.FromArray(t.Context(), mgr, a, column.UploadOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Release()) }()
		got, err := reduce.Column(t.Context(), c, reduce.CountNull)
		require.NoError(t, err)
		defer func() { require.NoError(t, got.Release()) }()
		back, err := got.Array(t.Context())
		require.NoError(t, err)
		defer back.Release()
		require.Equal(t, "3", cells(t, back)[0].String())
	})
}

// TestExpressionsWithoutColumns has expressions that read no column.
func TestExpressionsWithoutColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, n := range []int{0, 7, 9000} {
			a := values(arraytest.NewGenerator(7), arrow.PrimitiveTypes.Int32, n)
			table := load(t, mgr, n, a)
			got, err := reduce.Scalars(t.Context(), table, []reduce.Aggregate{
				reduce.Sum(expr.Lit(2)), reduce.CountAll().Where(expr.Lit(false)), reduce.Count(expr.Null(arrow.PrimitiveTypes.Int8)),
				reduce.Max(expr.Null(arrow.PrimitiveTypes.Int8)), reduce.CountNull(expr.Lit(1)).Where(expr.Null(arrow.FixedWidthTypes.Boolean)),
			})
			require.NoError(t, err)
			sum := "null"
			if n > 0 {
				sum = fmt.Sprint(2 * n)
			}
			require.Equal(t, []string{sum, "0", "0", "null", "0"},
				[]string{got[0].String(), got[1].String(), got[2].String(), got[3].String(), got[4].String()})
			require.NoError(t, table.Release())
			a.Release()
		}
	})
}
