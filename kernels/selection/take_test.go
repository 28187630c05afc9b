package selection_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

var indexTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16,
}

// indicesOf makes indices of a type; negative rows are nulls.
func indicesOf(t testing.TB, of arrow.DataType, rows []int) arrow.Array {
	builder := array.NewBuilder(arrowmemory.DefaultAllocator, of)
	defer builder.Release()
	for _, row := range rows {
		if row < 0 {
			builder.AppendNull()
			continue
		}
		require.NoError(t, builder.AppendValueFromString(fmt.Sprint(row)))
	}
	made := builder.NewArray()
	t.Cleanup(made.Release)
	return made
}

// randomRows returns n random row numbers below of, with nulls if nulls is true.
func randomRows(r *rand.Rand, n, of int, nulls bool) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = -1
		if of > 0 && !(nulls && r.IntN(5) == 0) {
			rows[i] = r.IntN(of)
		}
	}
	return rows
}

func TestTakeOfEveryType(t *testing.T) {
	eachType(t, rounds(6, 12), takeOne)
}

// takeOne takes rows of a random sliced array with nulls, by random indices, and
// compares the result with the model row by row.
func takeOne(t *testing.T, mgr *memory.Manager, dataType arrow.DataType, seed uint64) {
	g := arraytest.NewGenerator(seed)
	g.Nulls = []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.SomeNull, arraytest.AllNull}[seed%4]
	g.Sliced = seed%3 == 0
	n := []int{40, 1, 33, 0}[seed%4]
	seen, c := slice(t, mgr, g, dataType, n)
	nulls := seed%2 == 0
	rows := randomRows(g.Rand, []int{0, 1, 31, 32, 33, 257, 100}[g.IntN(7)], n, nulls)
	indices := indicesOf(t, indexTypes[g.IntN(len(indexTypes))], append([]int{0, 0, 0}, rows...))

	taken, err := selection.TakeColumn(t.Context(), c, upload(t, mgr, indices, 3, 0))

	if hasNull(rows) && isDense(dataType) {
		require.ErrorIs(t, err, device.ErrNotSupported)
		return
	}
	require.NoError(t, err)
	requireRows(t, download(t, taken), seen, rows)
}

// TestShortStrings takes more short strings than a tile of any kernel has, so that they are
// copied by rows: random ones, and each once in a promised order.
func TestShortStrings(t *testing.T) {
	const n = 70_000
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := property.Random(t)
		b := array.NewStringBuilder(arrowmemory.DefaultAllocator)
		defer b.Release()
		for range n + 5 {
			if random.IntN(9) == 0 {
				b.AppendNull()
			} else {
				b.Append(strconv.Itoa(random.IntN(1 + random.IntN(1_000_000))))
			}
		}
		texts := b.NewStringArray()
		defer texts.Release()
		seen := array.NewSlice(texts, 5, n+5)
		defer seen.Release()
		c := upload(t, mgr, texts, 5, 0)
		for _, options := range []selection.TakeOptions{{}, {Distinct: true}} {
			rows := randomRows(random, n, n, true)
			if options.Distinct {
				rows = random.Perm(n)
			}
			indices := upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int32, rows), 0, 0)
			taken, err := selection.TakeColumnWith(t.Context(), c, indices, options)
			require.NoError(t, err)
			requireRows(t, download(t, taken), seen, rows)
		}
	})
}

func hasNull(rows []int) bool {
	for _, row := range rows {
		if row < 0 {
			return true
		}
	}
	return false
}

func isDense(t arrow.DataType) bool { return t.ID() == arrow.DENSE_UNION }

func TestTakeBounds(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(1)
		for _, of := range []arrow.DataType{
			arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean, arrow.Null, arrow.StructOf(),
			arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int8), &arrow.FixedSizeBinaryType{ByteWidth: 5}, &arrow.FixedSizeBinaryType{},
		} {
			values := g.Array(of, 10)
			defer values.Release()
			c := upload(t, mgr, values, 2, 3) // so rows 5 to 7 are in memory but do not exist
			for _, wrong := range []any{int32(-1), int32(5), int32(math.MaxInt32), int32(math.MinInt32), int64(-1), int64(math.MaxInt64),
				int64(1 << 32), uint64(math.MaxUint64), uint64(1 << 63), uint32(math.MaxUint32), uint32(1 << 31), int8(-1), int16(-2), uint8(255)} {
				indices, text := oneWrong(t, wrong)
				_, err := selection.TakeColumn(t.Context(), c, upload(t, mgr, indices, 0, 0))
				var problem *selection.IndexError
				require.ErrorAs(t, err, &problem, "%v of %v", wrong, of)
				require.Equal(t, &selection.IndexError{Row: 34, Index: text, Rows: 5}, problem)
				require.ErrorIs(t, err, selection.ErrBounds)

				taken, err := selection.TakeColumnWith(t.Context(), c, upload(t, mgr, indices, 0, 0), selection.TakeOptions{Bounds: selection.Null})
				require.NoError(t, err)
				rows := make([]int, 40)
				rows[34] = -1
				seen := array.NewSlice(values, 2, 7)
				defer seen.Release()
				requireRows(t, download(t, taken), seen, rows)
			}
		}
	})
}

// oneWrong makes indices that are all zero except number 34.
func oneWrong(t testing.TB, wrong any) (indices arrow.Array, text string) {
	of := map[string]arrow.DataType{}
	for _, each := range indexTypes {
		of[each.Name()] = each
	}
	builder := array.NewBuilder(arrowmemory.DefaultAllocator, of[fmt.Sprintf("%T", wrong)])
	defer builder.Release()
	text = fmt.Sprint(wrong)
	for i := range 40 {
		value := "0"
		if i == 34 {
			value = text
		}
		require.NoError(t, builder.AppendValueFromString(value))
	}
	indices = builder.NewArray()
	t.Cleanup(indices.Release)
	return indices, text
}

func TestTakeOfTables(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(7)
		numbers, texts := g.Array(arrow.PrimitiveTypes.Int64, 20), g.Array(arrow.BinaryTypes.String, 20)
		defer numbers.Release()
		defer texts.Release()
		for _, onDevice := range []bool{false, true} {
			count := int64(20)
			if onDevice {
				count = 12 // the other eight rows do not exist
			}
			table := tableOf(t, mgr, count, onDevice, upload(t, mgr, numbers, 0, 0), upload(t, mgr, texts, 0, 0))
			rows := []int{11, 0, -1, 5, 5, 11}
			taken, err := selection.Take(t.Context(), table, upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int32, rows), 0, 0))
			require.NoError(t, err)
			record, err := taken.Record(t.Context())
			require.NoError(t, err)
			require.NoError(t, taken.Release())
			defer record.Release()
			requireRows(t, record.Column(0), numbers, rows)
			requireRows(t, record.Column(1), texts, rows)

			_, err = selection.Take(t.Context(), table, upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int32, []int{1, int(count)}), 0, 0))
			require.ErrorIs(t, err, selection.ErrBounds)
		}
	})
}

// TestCountsThatLie has invalid row counts on the device. No operator may access memory
// beyond the capacity.
func TestCountsThatLie(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(9)
		values := g.Array(arrow.ListOf(arrow.BinaryTypes.String), 50)
		defer values.Release()
		indices := upload(t, mgr, indicesOf(t, arrow.PrimitiveTypes.Int32, []int{0, 49, 50, 1000}), 0, 0)
		for _, count := range []int64{-1, math.MinInt64, 51, math.MaxInt64} {
			table := tableOf(t, mgr, count, true, upload(t, mgr, values, 0, 0))
			taken, err := selection.TakeWith(t.Context(), table, indices, selection.TakeOptions{Bounds: selection.Null})
			require.NoError(t, err)
			rows := []int{0, 49, -1, -1}
			if count < 0 {
				rows = []int{-1, -1, -1, -1}
			}
			requireTable(t, taken, rows, values)

			back, err := selection.Reverse(t.Context(), table)
			require.NoError(t, err)
			require.NoError(t, back.Release())
			last, err := selection.Tail(t.Context(), table, 7)
			require.NoError(t, err)
			require.NoError(t, last.Release())
		}
	})
}

// TestTakeColumns requires the columns that single calls return, and errors for columns of other lengths.
func TestTakeColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		table, _ := columntest.DrawTable(t, mgr, arraytest.NewGenerator(11), 300, arraytest.AllTypes()...)
		var columns []*column.Column
		for i := range table.NumColumns() {
			columns = append(columns, table.Column(i))
		}
		rows := []uint32{7, 299, 0, 7, 31}
		indices, err := column.FromSlice(t.Context(), mgr, rows, column.SliceOptions{})
		require.NoError(t, err)
		options := selection.TakeOptions{}
		taken, err := selection.TakeColumns(t.Context(), columns, indices, options)
		require.NoError(t, err)
		require.Len(t, taken, len(columns))
		for i, c := range columns {
			alone, err := selection.TakeColumnWith(t.Context(), c, indices, options)
			require.NoError(t, err)
			want, err := alone.Array(t.Context())
			require.NoError(t, err)
			got, err := taken[i].Array(t.Context())
			require.NoError(t, err)
			require.True(t, array.Equal(want, got), "%v: %v, expected %v", c, got, want)
			want.Release()
			got.Release()
			require.NoError(t, errors.Join(alone.Release(), taken[i].Release()))
		}
		_, err = selection.TakeColumns(t.Context(), []*column.Column{columns[0], indices}, indices, options)
		require.ErrorIs(t, err, column.ErrInvalid)
		none, err := selection.TakeColumns(t.Context(), nil, indices, options)
		require.NoError(t, err)
		require.Empty(t, none)
		require.NoError(t, indices.Release())
	})
}
