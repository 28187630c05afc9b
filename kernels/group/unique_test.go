package group_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

var types = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean,
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint64,
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
	arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Date32,
	&arrow.Decimal128Type{Precision: 38, Scale: 3},
	&arrow.FixedSizeBinaryType{ByteWidth: 5},
	arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary,
}

// sizes go around a warp, a block and more than one.
var sizes = []struct{ few, n int }{{1, 1}, {3, 31}, {2, 33}, {40, 257}, {900, 1000}}

func TestDistinctValues(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for i, of := range types {
			for j, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
				if brief(mgr) && (i+j)%3 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%v/%d", of, nulls), func(t *testing.T) {
					for seed, size := range sizes {
						if brief(mgr) && (seed+i)%2 != 0 {
							continue
						}
						g := arraytest.NewGenerator(uint64(seed))
						g.Nulls = nulls
						all := columntest.Repeated(t, g, of, size.few, size.n)
						c, values := columntest.UploadRows(t, mgr, all, size.n/7, size.n)
						compare(t, c, columntest.Texts(values))
					}
				})
			}
		}
	})
}

// compare compares the results for a column with those of the model.
func compare(t *testing.T, c *column.Column, values []string) {
	t.Helper()
	order, counts := columntest.Distinct(values)
	unique, err := group.Unique(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, order, nilIfEmpty(columntest.Texts(columntest.Fetch(t, unique).Column(0))))

	counted, err := group.ValueCounts(t.Context(), c)
	require.NoError(t, err)
	record := columntest.Fetch(t, counted)
	require.Equal(t, order, nilIfEmpty(columntest.Texts(record.Column(0))))
	for i, value := range order {
		require.Equal(t, counts[value], record.Column(1).(*array.Int64).Value(i), "%s", value)
	}

}

func nilIfEmpty(s []string) []string {
	if len(s) == 0 {
		return nil
	}
	return s
}

func TestFloatsThatAreTheSame(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		other := math.Float64frombits(math.Float64bits(math.NaN()) ^ 1<<63 ^ 2)
		in := columntest.Floats(math.Copysign(0, -1), 0, math.NaN(), other, math.Inf(1), -math.NaN(), math.Inf(1), 5e-324, 0)
		defer in.Release()
		c, _ := columntest.UploadRows(t, mgr, in, 0, in.Len())
		counted, err := group.ValueCounts(t.Context(), c)
		require.NoError(t, err)
		record := columntest.Fetch(t, counted)
		values := record.Column(0).(*array.Float64).Float64Values()
		require.Len(t, values, 4)
		assert.True(t, values[0] == 0 && math.Signbit(values[0]), "the first of the zeros is kept")
		assert.True(t, values[1] != values[1])
		assert.Equal(t, []float64{math.Inf(1), 5e-324}, values[2:])
		assert.Equal(t, []int64{3, 3, 2, 1}, record.Column(1).(*array.Int64).Int64Values())
	})
}

func TestEmpty(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		in := columntest.Floats(1, 2)
		defer in.Release()
		c, _ := columntest.UploadRows(t, mgr, in, 1, 1)
		compare(t, c, []string{})
	})
}

// TestRowsOfTheDevice has columns with a row count on the device.
func TestRowsOfTheDevice(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		columntest.EachCount(t, mgr, func(c, _ *column.Column, values []string) { compare(t, c, values) })
	})
}

// TestDictionariesWithEqualValues has concatenated columns. Their dictionary has equal
// values, also nulls, and in one case more values than its codes can number.
func TestDictionariesWithEqualValues(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		of := func(values ...string) *column.Column {
			builder := array.NewDictionaryBuilder(arrowmemory.DefaultAllocator,
				&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
			defer builder.Release()
			for _, value := range values {
				if value == columntest.Null {
					builder.AppendNull()
				} else {
					require.NoError(t, builder.AppendString(value))
				}
			}
			in := builder.NewArray()
			defer in.Release()
			c, _ := columntest.UploadRows(t, mgr, in, 0, in.Len())
			return c
		}
		var many []string
		for i := range 100 {
			many = append(many, fmt.Sprint("v", i))
		}
		for name, pieces := range map[string][][]string{
			"few":             {{"x", "y", "x", columntest.Null}, {"y", "x", "z", columntest.Null, "z"}},
			"more than int8s": {many, append([]string{"other"}, many...)},
		} {
			var columns []*column.Column
			var all []string
			for _, piece := range pieces {
				columns = append(columns, of(piece...))
				all = append(all, piece...)
			}
			both, err := selection.ConcatColumns(t.Context(), columns)
			require.NoError(t, err, name)
			order, counts := columntest.Distinct(all)
			unique, err := group.Unique(t.Context(), both)
			require.NoError(t, err)
			require.Equal(t, order, columntest.Texts(columntest.Fetch(t, unique).Column(0)), name)
			counted, err := group.ValueCounts(t.Context(), both)
			require.NoError(t, err)
			require.NoError(t, both.Release())
			record := columntest.Fetch(t, counted)
			require.Equal(t, order, columntest.Texts(record.Column(0)), name)
			for i, value := range order {
				require.Equal(t, counts[value], record.Column(1).(*array.Int64).Value(i), value)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(1)
		lists := g.Array(arrow.ListOf(arrow.PrimitiveTypes.Int8), 4)
		defer lists.Release()
		c, _ := columntest.UploadRows(t, mgr, lists, 0, 4)
		_, err := group.Unique(t.Context(), c)
		require.ErrorIs(t, err, device.ErrNotSupported)
		// Without rows too: after a filter the host knows the number of rows and a GPU does not.
		none, err := c.Slice(0, 0)
		require.NoError(t, err)
		_, err = group.Unique(t.Context(), none)
		require.ErrorIs(t, err, device.ErrNotSupported)
		require.NoError(t, none.Release())
		_, err = group.Unique(t.Context(), c, group.Options{}, group.Options{})
		require.ErrorIs(t, err, device.ErrInvalidValue)
		require.ErrorContains(t, err, "group: unique: ")
		_, err = group.ValueCounts(t.Context(), nil)
		require.ErrorIs(t, err, memory.ErrReleased)
	})
}

// TestMany goes around the kernels' loops with values that collide.
func TestMany(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		n := 5000
		if dev.Kind() == device.CUDA && !devicetest.Emulated(dev) {
			n = 5_000_000
		}
		for _, different := range []int{1, 100, n} {
			values := make([]float64, n)
			for i := range values {
				values[i] = float64(i * 7919 % different)
			}
			in := columntest.Floats(values...)
			c, _ := columntest.UploadRows(t, mgr, in, 0, n)
			in.Release()
			counted, err := group.ValueCounts(t.Context(), c)
			require.NoError(t, err)
			record := columntest.Fetch(t, counted)
			require.EqualValues(t, different, record.NumRows())
			sum := int64(0)
			for i, count := range record.Column(1).(*array.Int64).Int64Values() {
				sum += count
				require.Equal(t, values[i], record.Column(0).(*array.Float64).Value(i))
			}
			require.EqualValues(t, n, sum)
		}
	})
}
