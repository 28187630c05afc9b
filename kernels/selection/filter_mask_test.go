package selection_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// maskOf makes a mask of elements that are true with probability keep, and null with
// probability nulls. It returns the rows that are kept.
func maskOf(r *rand.Rand, n int, keep, nulls float64) (mask *array.Boolean, rows []int) {
	builder := array.NewBooleanBuilder(arrowmemory.DefaultAllocator)
	defer builder.Release()
	values, valid := make([]bool, n), make([]bool, n)
	for i := range n {
		values[i], valid[i] = r.Float64() < keep, r.Float64() >= nulls
		if values[i] && valid[i] {
			rows = append(rows, i)
		}
	}
	if nulls == 0 {
		valid = nil
	}
	builder.AppendValues(values, valid)
	return builder.NewBooleanArray(), rows
}

// records copies a table to the host, and releases both.
func records(t testing.TB, table *buffer.Buffer) arrow.Record {
	t.Helper()
	record, err := table.Record(t.Context())
	require.NoError(t, err)
	t.Cleanup(record.Release)
	require.NoError(t, table.Release())
	return record
}

// uploadMask makes a mask on the device that begins ahead bits into its memory.
func uploadMask(t testing.TB, mgr *memory.Manager, mask arrow.Array, ahead int) *column.Column {
	t.Helper()
	front, _ := maskOf(rand.New(rand.NewPCG(1, 2)), ahead, 0.5, 0)
	defer front.Release()
	all, err := array.Concatenate([]arrow.Array{front, mask}, arrowmemory.DefaultAllocator)
	require.NoError(t, err)
	defer all.Release()
	return upload(t, mgr, all, ahead, 0)
}

// TestFilterOfEveryType has sizes for the single-block kernel and for several kernels.
func TestFilterOfEveryType(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for i, dataType := range arraytest.AllTypes() {
			t.Run(dataType.String(), func(t *testing.T) {
				mgr := devicetest.Manager(t, dev, memory.Options{})
				for seed := range uint64(4) {
					filterOne(t, mgr, dataType, seed, 100)
				}
				if i%4 == 0 || !testing.Short() {
					filterOne(t, mgr, dataType, 7, 9000)
				}
			})
		}
	})
}

// filterOne filters a random column of about n elements by a random mask.
func filterOne(t *testing.T, mgr *memory.Manager, dataType arrow.DataType, seed uint64, n int) {
	r := rand.New(rand.NewPCG(seed, 3))
	generator := arraytest.NewGenerator(seed)
	generator.Nulls = []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull}[seed%3]
	generator.Sliced = seed%2 == 1
	n += r.IntN(40)
	values := generator.Array(dataType, n+5)
	defer values.Release()
	mask, rows := maskOf(r, n, 0.5, []float64{0, 0.2}[seed/2%2])
	defer mask.Release()
	ahead := r.IntN(5)
	column := upload(t, mgr, values, ahead, 5-ahead)
	from := array.NewSlice(values, int64(ahead), int64(ahead+n))
	defer from.Release()

	made, err := selection.FilterColumn(t.Context(), column, uploadMask(t, mgr, mask, r.IntN(40)))
	require.NoError(t, err)
	record := records(t, made)
	require.Equal(t, int64(len(rows)), record.NumRows())
	requireRows(t, record.Column(0), from, rows)
}

// TestFilterAsArrow compares the result with arrow-go's function for the types that
// arrow-go supports.
func TestFilterAsArrow(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		known := 0
		for _, dataType := range arraytest.FlatTypes() {
			r := rand.New(rand.NewPCG(5, 6))
			n := 700
			if dataType.ID() == arrow.BOOL {
				continue // arrow-go 17 reads the wrong bits
			}
			values := arraytest.NewGenerator(9).Array(dataType, n)
			defer values.Release()
			mask, _ := maskOf(r, n, 0.4, 0.1)
			defer mask.Release()
			want, err := compute.FilterArray(t.Context(), values, mask, *compute.DefaultFilterOptions())
			if err != nil {
				continue
			}
			known++
			defer want.Release()
			made, err := selection.FilterColumn(t.Context(), upload(t, mgr, values, 0, 0), uploadMask(t, mgr, mask, 3))
			require.NoError(t, err)
			got := records(t, made).Column(0)
			require.True(t, array.Equal(want, got), "%v: %v\ninstead of\n%v", dataType, got, want)
		}
		require.Greater(t, known, 15)
	})
}

// TestFilterSizes has sizes around words, segments, tiles and the largest table that
// one block filters.
func TestFilterSizes(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		sizes := devicetest.Sizes(dev, 1, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 8191, 8192, 8193, 8704, 32767, 32768, 32769)
		if !devicetest.Emulated(dev) && !testing.Short() {
			sizes = append(sizes, 1<<20-1, 1<<20+1)
		}
		if dev.Kind() == device.CUDA && !devicetest.Emulated(dev) {
			sizes = append(sizes, 40_000_001) // more tiles than one round of the offsets handles
		}
		for _, n := range sizes {
			for _, keep := range []float64{0, 0.5, 1} {
				t.Run(fmt.Sprint(n, keep), func(t *testing.T) { filterSize(t, mgr, n, keep) })
			}
		}
	})
}

func filterSize(t *testing.T, mgr *memory.Manager, n int, keep float64) {
	r := rand.New(rand.NewPCG(uint64(n), 8))
	mask, rows := maskOf(r, n, keep, 0)
	defer mask.Release()
	wide, narrow := array.NewInt64Builder(arrowmemory.DefaultAllocator), array.NewInt8Builder(arrowmemory.DefaultAllocator)
	for i := range n {
		wide.Append(int64(i))
		if i%7 == 3 {
			narrow.AppendNull()
		} else {
			narrow.Append(int8(i))
		}
	}
	long, short := wide.NewArray(), narrow.NewArray()
	defer long.Release()
	defer short.Release()
	table := tableOf(t, mgr, int64(n), false, upload(t, mgr, long, 0, 0), upload(t, mgr, short, 0, 0))
	made, err := selection.FilterMask(t.Context(), table, uploadMask(t, mgr, mask, n%9))
	require.NoError(t, err)
	record := records(t, made)
	require.Equal(t, int64(len(rows)), record.NumRows())
	numbers, bytes := record.Column(0).(*array.Int64), record.Column(1).(*array.Int8)
	for i, row := range rows {
		if numbers.Value(i) != int64(row) || bytes.IsNull(i) != (row%7 == 3) || bytes.IsValid(i) && bytes.Value(i) != int8(row) {
			t.Fatalf("row %d of %d is %d, %v instead of %d", i, len(rows), numbers.Value(i), bytes.ValueStr(i), row)
		}
	}
}

// TestFilterOfFilter chains filters. The row counts stay on the device.
func TestFilterOfFilter(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for seed, n := range []int{1, 40, 700, 5000, 9500} {
			t.Run(fmt.Sprint(n), func(t *testing.T) { filterTwice(t, mgr, uint64(seed), n) })
		}
	})
}

func filterTwice(t *testing.T, mgr *memory.Manager, seed uint64, n int) {
	r := rand.New(rand.NewPCG(seed, 12))
	generator := arraytest.NewGenerator(seed)
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Float64,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, arrow.Field{Name: "b", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8), Nullable: true}),
		&arrow.Decimal256Type{Precision: 50}, &arrow.FixedSizeBinaryType{ByteWidth: 3},
	}
	values, columns := make([]arrow.Array, len(types)), make([]*column.Column, len(types))
	for i, dataType := range types {
		values[i] = generator.Array(dataType, n)
		defer values[i].Release()
		columns[i] = upload(t, mgr, values[i], 0, 0)
	}
	counted := n - n/5
	table := tableOf(t, mgr, int64(counted), true, columns...)
	rows := make([]int, counted)
	for i := range rows {
		rows[i] = i
	}
	for round := range 3 {
		mask, kept := maskOf(r, int(table.Capacity()), 0.8, 0.05)
		var left []int
		for _, i := range kept {
			if i < len(rows) {
				left = append(left, rows[i])
			}
		}
		made, err := selection.FilterMask(t.Context(), table, uploadMask(t, mgr, mask, round))
		mask.Release()
		require.NoError(t, err)
		release(t, made)
		if rows, known := table.HostRows(); table.Device().Kind() == device.CUDA && !(known && rows == 0) {
			_, known = made.HostRows()
			require.False(t, known, "the count stays on the device")
		}
		if round == 1 { // from now on the host knows that there are fewer rows than the capacity
			count, err := made.NumRows(t.Context())
			require.NoError(t, err)
			require.Equal(t, int64(len(left)), count)
		}
		table, rows = made, left
	}
	count, err := table.NumRows(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(len(rows)), count)
	record, err := table.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	for i := range types {
		requireRows(t, record.Column(i), values[i], rows)
	}
}

// TestFilterMaskCounted compares a filter by a mask whose true rows are counted with the same filter without a count.
func TestFilterMaskCounted(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, n := range []int{0, 1, 1000, 40_000} {
			b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
				{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "mask", Type: arrow.FixedWidthTypes.Boolean},
			}, nil))
			defer b.Release()
			selected := int64(0)
			for i := range n {
				b.Field(0).(*array.Int64Builder).Append(int64(i))
				if i%7 == 0 {
					b.Field(1).AppendNull()
				} else {
					b.Field(1).(*array.StringBuilder).Append(strconv.Itoa(i))
				}
				b.Field(2).(*array.BooleanBuilder).Append(i%3 == 1)
				if i%3 == 1 {
					selected++
				}
			}
			record := b.NewRecord()
			defer record.Release()
			table, err := buffer.FromRecord(mgr, record)
			require.NoError(t, err)
			defer func() { require.NoError(t, table.Release()) }()
			mask := table.Column(2)
			plain, err := selection.FilterMask(t.Context(), table, mask)
			require.NoError(t, err)
			counted, err := selection.FilterMaskCounted(t.Context(), table, mask, selected)
			require.NoError(t, err)
			rows, known := counted.HostRows()
			require.True(t, known)
			require.Equal(t, selected, rows)
			require.True(t, array.RecordEqual(columntest.Fetch(t, plain), columntest.Fetch(t, counted)), "%d rows", n)
			for _, wrong := range []int64{-1, int64(n) + 1} {
				_, err = selection.FilterMaskCounted(t.Context(), table, mask, wrong)
				require.ErrorIs(t, err, buffer.ErrRows)
			}
		}
	})
}
