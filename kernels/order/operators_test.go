package order_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/ordertest"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// eachCase runs a test on every device for keys of every type, and for mixes of types. In
// short tests the emulator gets every sixth type, each test others.
func eachCase(t *testing.T, test func(t *testing.T, mgr *memory.Manager, g *arraytest.Generator, name string, types ...arrow.DataType)) {
	offset := len(t.Name())
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		types := ordertest.Types()
		for number, of := range types {
			few := hurried(dev)
			if few && (number+offset)%6 != 0 {
				continue
			}
			g := arraytest.NewGenerator(uint64(number))
			for i, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull} {
				if few && i == number%2 {
					continue
				}
				g.Nulls, g.Sliced = nulls, g.IntN(2) == 0
				test(t, mgr, g, fmt.Sprintf("%v, nulls %v", of, nulls), of)
				g.Nulls = arraytest.SomeNull
				mix := []arrow.DataType{types[g.IntN(len(types))], types[g.IntN(len(types))]}
				test(t, mgr, g, fmt.Sprintf("%v, nulls %v", mix, nulls), mix...)
			}
		}
	})
}

// hurried reports whether a test has to be short and runs on the emulator: under the race
// detector a sort of 100 rows takes it some 50 ms.
func hurried(dev *device.Device) bool { return testing.Short() && devicetest.Emulated(dev) }

func TestRank(t *testing.T) {
	eachCase(t, func(t *testing.T, mgr *memory.Manager, g *arraytest.Generator, name string, types ...arrow.DataType) {
		c := newCase(g, g.IntN(100), types...)
		defer c.release()
		table := c.table(t, mgr)
		for method := order.Min; method <= order.Average; method++ {
			ranks, err := order.Rank(t.Context(), table, c.keys(), order.RankOptions{Method: method})
			require.NoError(t, err, name)
			a, err := ranks.Array(t.Context())
			require.NoError(t, err)
			for row, want := range c.ranks(method) {
				if method == order.Average {
					require.Equal(t, want, a.(*array.Float64).Value(row), "%s, %v, row %d", name, method, row)
				} else {
					require.EqualValues(t, want, a.(*array.Uint32).Value(row), "%s, %v, row %d", name, method, row)
				}
			}
			a.Release()
			require.NoError(t, ranks.Release())
		}
		require.NoError(t, table.Release())
	})
}

// ranks returns the ranks of the model.
func (c sortCase) ranks(method order.Method) []float64 {
	ranks := make([]float64, c.rows())
	rows := c.want()
	dense := 0
	for begin := 0; begin < len(rows); {
		end := begin + 1
		for end < len(rows) && ordertest.CompareRows(c.arrays, int(rows[begin]), c.arrays, int(rows[end]), c.directions) == 0 {
			end++
		}
		dense++
		for i := begin; i < end; i++ {
			ranks[rows[i]] = map[order.Method]float64{
				order.Min: float64(begin + 1), order.Max: float64(end), order.Dense: float64(dense), order.First: float64(i + 1),
				order.Average: float64(begin+1+end) / 2,
			}[method]
		}
		begin = end
	}
	return ranks
}

// TestSortColumn requires the same values, in order.
func TestSortColumn(t *testing.T) {
	eachCase(t, func(t *testing.T, mgr *memory.Manager, g *arraytest.Generator, name string, types ...arrow.DataType) {
		c := newCase(g, g.IntN(300), types[0])
		defer c.release()
		table := c.table(t, mgr)
		d := c.directions[0]
		sorted, err := order.SortColumn(t.Context(), table.Column(0), order.ColumnOptions{Descending: d.Descending, NullsFirst: d.NullsFirst})
		require.NoError(t, table.Release())
		require.NoError(t, err, name)
		a, err := sorted.Array(t.Context())
		require.NoError(t, err)
		defer a.Release()
		require.NoError(t, sorted.Release())
		require.True(t, arrow.TypeEqual(c.arrays[0].DataType(), a.DataType()))
		for row := 1; row < a.Len(); row++ {
			require.LessOrEqual(t, d.Compare(a, row-1, a, row), 0, "%s: row %d", name, row)
		}
		want, got := texts(c.arrays[0]), texts(a)
		slices.Sort(want)
		slices.Sort(got)
		require.Equal(t, want, got, name)
	})
}

// texts returns the values. NaNs have their bits.
func texts(a arrow.Array) []string {
	all := make([]string, a.Len())
	for row := range all {
		all[row] = text(a, row)
		if reals, ok := a.(*array.Float64); ok && a.IsValid(row) {
			all[row] = fmt.Sprint(math.Float64bits(reals.Value(row)))
		}
	}
	return all
}

func TestTopK(t *testing.T) {
	eachCase(t, func(t *testing.T, mgr *memory.Manager, g *arraytest.Generator, name string, types ...arrow.DataType) {
		c := newCase(g, g.IntN(100), types...)
		defer c.release()
		table := c.table(t, mgr)
		defer func() { require.NoError(t, table.Release()) }()
		ks := []int64{0, 1, 7, 99, 1 << 40}
		if hurried(mgr.Device()) {
			ks = []int64{7, 1 << 40}
		}
		for _, k := range ks {
			want := c.want()
			want = want[:min(k, int64(len(want)))]
			rows, err := order.TopIndices(t.Context(), table, k, c.keys())
			require.NoError(t, err, name)
			require.Equal(t, append([]uint32(nil), want...), numbers(t, rows), name)
			top, err := order.TopK(t.Context(), table, k, c.keys())
			require.NoError(t, err, name)
			c.equalRows(t, top, want, name)
			require.NoError(t, top.Release())
		}
	})
}

// TestTopKOfFloats selects from floats with zeros of both signs, infinities and NaNs.
func TestTopKOfFloats(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for number, of := range []arrow.DataType{arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64} {
			g := arraytest.NewGenerator(uint64(number))
			g.Nulls = arraytest.NoneNull
			for _, d := range []ordertest.Direction{{Descending: true}, {}} {
				for _, n := range []int{100, 5000} {
					c := newCase(g, n, of)
					c.directions[0] = d
					table, want := c.table(t, mgr), c.want()
					for _, k := range []int{20, 2000} {
						rows, err := order.TopIndices(t.Context(), table, int64(k), c.keys())
						require.NoError(t, err)
						require.Equal(t, want[:min(k, n)], numbers(t, rows), "%v, %+v, first %d of %d", of, d, k, n)
					}
					require.NoError(t, table.Release())
					c.release()
				}
			}
		}
	})
}

// TestTopKOfMany selects candidates before it sorts them, on the host.
func TestTopKOfMany(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for i, types := range [][]arrow.DataType{
		{arrow.PrimitiveTypes.Int8}, {arrow.PrimitiveTypes.Float64}, {arrow.BinaryTypes.String}, {arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int64},
		{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64}, {arrow.Null},
	} {
		g := arraytest.NewGenerator(uint64(i))
		c := newCase(g, 40_000, types...)
		table := c.table(t, mgr)
		want := c.want()
		for _, k := range []int64{1, 100, 4000, 39_000} {
			rows, err := order.TopIndices(t.Context(), table, k, c.keys())
			require.NoError(t, err)
			require.Equal(t, want[:k], numbers(t, rows), "%v, first %d", types, k)
		}
		require.NoError(t, table.Release())
		c.release()
	}
}

func TestIsSorted(t *testing.T) {
	eachCase(t, func(t *testing.T, mgr *memory.Manager, g *arraytest.Generator, name string, types ...arrow.DataType) {
		c := newCase(g, g.IntN(100), types...)
		defer c.release()
		table := c.table(t, mgr)
		defer func() { require.NoError(t, table.Release()) }()
		is, err := order.IsSorted(t.Context(), table, c.keys())
		require.NoError(t, err, name)
		rows := c.want()
		require.Equal(t, slices.IsSorted(rows), is, name)
		sorted, err := order.Sort(t.Context(), table, c.keys())
		require.NoError(t, err, name)
		is, err = order.IsSorted(t.Context(), sorted, c.keys())
		require.NoError(t, err, name)
		require.True(t, is, name)
		require.NoError(t, sorted.Release())
	})
}

// TestSearch finds every row of a table in another one, which is sorted.
func TestSearch(t *testing.T) {
	eachCase(t, func(t *testing.T, mgr *memory.Manager, g *arraytest.Generator, name string, types ...arrow.DataType) {
		c := newCase(g, g.IntN(60), types...)
		defer c.release()
		values := newCase(g, g.IntN(60), types...)
		defer values.release()
		table, other := c.table(t, mgr), values.table(t, mgr)
		defer func() { require.NoError(t, table.Release()); require.NoError(t, other.Release()) }()
		sorted, err := order.Sort(t.Context(), table, c.keys())
		require.NoError(t, err, name)
		defer func() { require.NoError(t, sorted.Release()) }()
		rows := c.want()
		for _, upper := range []bool{false, true} {
			places, err := order.Search(t.Context(), sorted, other, c.keys(), order.SearchOptions{Upper: upper})
			require.NoError(t, err, name)
			got := numbers(t, places)
			require.Len(t, got, values.rows())
			for i, place := range got {
				want := sort.Search(len(rows), func(row int) bool {
					found := ordertest.CompareRows(c.arrays, int(rows[row]), values.arrays, i, c.directions)
					return found > 0 || found == 0 && !upper
				})
				require.EqualValues(t, want, place, "%s: value %d, upper %v", name, i, upper)
			}
		}
		if slices.IsSorted(rows) {
			return
		}
		_, err = order.Search(t.Context(), table, other, c.keys())
		var unsorted *order.UnsortedError
		require.ErrorAs(t, err, &unsorted)
		require.ErrorIs(t, err, order.ErrUnsorted)
		first := 1
		for ordertest.CompareRows(c.arrays, first-1, c.arrays, first, c.directions) <= 0 {
			first++
		}
		require.EqualValues(t, first, unsorted.Row)
	})
}

// TestSearchMany searches among more rows than a block copies, for values that are sorted,
// scattered and equal. The model is the host, which TestSearch compares with a linear one.
func TestSearchMany(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	onKernels(t, func(t *testing.T, mgr *memory.Manager) {
		for number, of := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Float32, arrow.BinaryTypes.String} {
			g := arraytest.NewGenerator(uint64(number))
			g.Nulls = arraytest.Nulls(number % 2)
			rows := []int{70_001, 4097, 9000, 5000}[number]
			if testing.Short() {
				rows = []int{34_000, 4097, 5000, 4100}[number]
			}
			c := sortCase{[]arrow.Array{g.Array(of, rows)}, ordertest.Directions[number : number+1]}
			defer c.release()
			loose := c.table(t, host)
			table, err := order.Sort(t.Context(), loose, c.keys())
			require.NoError(t, err)
			require.NoError(t, loose.Release())
			values := map[string]arrow.Array{"random": g.Array(of, 2500), "same": array.NewSlice(c.arrays[0], 7, 8)}
			record, err := table.Record(t.Context())
			require.NoError(t, err)
			values["sorted"] = array.NewSlice(record.Column(0), 1000, 3100)
			sorted := sortCase{[]arrow.Array{record.Column(0)}, c.directions}.table(t, mgr)
			for name, a := range values {
				those := sortCase{[]arrow.Array{a}, c.directions}
				here, there := those.table(t, host), those.table(t, mgr)
				for _, upper := range []bool{false, true} {
					o := order.SearchOptions{Upper: upper, Unchecked: upper}
					want, err := order.Search(t.Context(), table, here, c.keys(), o)
					require.NoError(t, err)
					got, err := order.Search(t.Context(), sorted, there, c.keys(), o)
					require.NoError(t, err)
					require.Equal(t, numbers(t, want), numbers(t, got), "%v, %s values, upper %v", of, name, upper)
				}
				require.NoError(t, here.Release())
				require.NoError(t, there.Release())
				a.Release()
			}
			record.Release()
			require.NoError(t, sorted.Release())
			require.NoError(t, table.Release())
		}
	})
}

// TestMerge merges tables, and finds rows of earlier ones first.
func TestMerge(t *testing.T) {
	eachCase(t, func(t *testing.T, mgr *memory.Manager, g *arraytest.Generator, name string, types ...arrow.DataType) {
		types = append(types, arrow.PrimitiveTypes.Int32) // differs between rows with equal keys
		whole := newCase(g, 90, types...)
		defer whole.release()
		keys := whole.keys()[:len(types)-1]
		var tables []*buffer.Buffer
		defer func() {
			for _, table := range tables {
				require.NoError(t, table.Release())
			}
		}()
		var rows []uint32
		for part := range 3 {
			some := sortCase{directions: whole.directions}
			for _, a := range whole.arrays {
				some.arrays = append(some.arrays, array.NewSlice(a, int64(30*part), int64(30*part+30)))
			}
			table := some.table(t, mgr)
			keyed := sortCase{some.arrays[:len(keys)], some.directions[:len(keys)]}
			for _, row := range keyed.want() {
				rows = append(rows, row+uint32(30*part))
			}
			some.release()
			sorted, err := order.Sort(t.Context(), table, keys)
			require.NoError(t, table.Release())
			require.NoError(t, err, name)
			tables = append(tables, sorted)
		}
		merged, err := order.Merge(t.Context(), tables, keys)
		require.NoError(t, err, name)
		slices.SortStableFunc(rows, func(i, j uint32) int {
			return ordertest.CompareRows(whole.arrays[:len(keys)], int(i), whole.arrays[:len(keys)], int(j), whole.directions[:len(keys)])
		})
		whole.equalRows(t, merged, rows, name)
		require.NoError(t, merged.Release())
	})
}

// TestPartition divides a table by bounds, and finds each row in its range.
func TestPartition(t *testing.T) {
	eachCase(t, func(t *testing.T, mgr *memory.Manager, g *arraytest.Generator, name string, types ...arrow.DataType) {
		c, b := newCase(g, g.IntN(100), types...), newCase(g, g.IntN(6), types...)
		defer c.release()
		defer b.release()
		b.directions = c.directions
		table, loose := c.table(t, mgr), b.table(t, mgr)
		defer func() { require.NoError(t, table.Release()); require.NoError(t, loose.Release()) }()
		bounds, err := order.Sort(t.Context(), loose, c.keys())
		require.NoError(t, err, name)
		defer func() { require.NoError(t, bounds.Release()) }()
		parts, err := order.Partition(t.Context(), table, bounds, c.keys())
		require.NoError(t, err, name)
		defer func() { require.NoError(t, parts.Release()) }()
		var rows []uint32
		offsets := []uint32{0}
		for i := range b.rows() + 1 {
			for row := range c.rows() {
				above := 0
				for bound := range b.rows() {
					if ordertest.CompareRows(b.arrays, bound, c.arrays, row, c.directions) <= 0 {
						above++
					}
				}
				if above == i {
					rows = append(rows, uint32(row))
				}
			}
			offsets = append(offsets, uint32(len(rows)))
		}
		c.equalRows(t, parts.Rows, rows, name)
		a, err := parts.Offsets.Array(context.Background())
		require.NoError(t, err)
		defer a.Release()
		require.Equal(t, offsets, a.(*array.Uint32).Uint32Values(), name)
	})
}

// TestPartitionBy divides rows by numbers of both types, and of more ranges than uint8 has numbers for.
func TestPartitionBy(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, c := range []struct{ rows, ranges, most int }{{0, 4, 4}, {1, 1, 1}, {700, 4, 4}, {700, 255, 200}, {900, 256, 256}, {500, 300, 290}, {300, 3, 5}} {
			values := make([]int32, c.rows)
			numbers := make([]uint32, c.rows)
			bytes := make([]uint8, c.rows)
			want := make([][]int32, c.ranges)
			for i := range values {
				values[i], numbers[i] = int32(i), uint32(i*i*31%c.most)
				bytes[i] = uint8(numbers[i])
				if int(numbers[i]) < c.ranges {
					want[numbers[i]] = append(want[numbers[i]], values[i])
				}
			}
			rows, err := column.FromSlice(t.Context(), mgr, values, column.SliceOptions{})
			require.NoError(t, err)
			table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "row", Type: rows.Type()}}, nil), []*column.Column{rows}, buffer.Rows{Count: int64(c.rows), Manager: mgr})
			require.NoError(t, err)
			require.NoError(t, rows.Release())
			wide, err := column.FromSlice(t.Context(), mgr, numbers, column.SliceOptions{})
			require.NoError(t, err)
			narrow, err := column.FromSlice(t.Context(), mgr, bytes, column.SliceOptions{})
			require.NoError(t, err)
			for _, by := range []*column.Column{wide, narrow} {
				parts, err := order.PartitionBy(t.Context(), table, by, c.ranges)
				if c.ranges > 255 && by == narrow {
					require.ErrorIs(t, err, device.ErrInvalidValue)
					continue
				}
				require.NoError(t, err)
				offsets, err := parts.Offsets.Array(t.Context())
				require.NoError(t, err)
				at := offsets.(*array.Uint32).Uint32Values()
				require.Len(t, at, c.ranges+1)
				moved, err := parts.Rows.Column(0).Array(t.Context())
				require.NoError(t, err)
				for i, list := range want {
					require.Equal(t, list, append([]int32(nil), moved.(*array.Int32).Int32Values()[at[i]:at[i+1]]...), "range %d of %v", i, c)
				}
				offsets.Release()
				moved.Release()
				require.NoError(t, parts.Release())
			}
			require.NoError(t, errors.Join(wide.Release(), narrow.Release(), table.Release()))
		}
	})
}
