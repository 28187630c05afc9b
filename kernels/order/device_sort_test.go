package order_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/ordertest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// onKernels runs a test with a manager of the emulator, and of each GPU.
func onKernels(t *testing.T, f func(t *testing.T, mgr *memory.Manager)) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) { f(t, poisonedManager(t, dev)) })
}

// poisonedManager fills memory with a pattern before and after use.
func poisonedManager(t *testing.T, dev *device.Device) *memory.Manager {
	return devicetest.Manager(t, dev, memory.Options{Resource: adaptor.NewPoison(memory.NewDriverResource(dev), adaptor.PoisonOptions{})})
}

// TestKernelsSortEveryType sorts by one key of every type on GPUs.
func TestKernelsSortEveryType(t *testing.T) {
	onKernels(t, func(t *testing.T, mgr *memory.Manager) {
		turn := property.Turn(t)
		for number, of := range ordertest.Types() {
			g := arraytest.NewGenerator(uint64(number))
			for i, n := range []int{0, 1, 2, 30, 260} {
				for j, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
					// Three of fifteen for each type, or half of them, others for the next one.
					chosen := (i+j+number+turn)%2 == 0
					if testing.Short() {
						chosen = (3*i+j+2*number)%5 == 0
					}
					if devicetest.Emulated(mgr.Device()) && !chosen {
						continue
					}
					g.Nulls, g.Sliced = nulls, g.IntN(2) == 0
					c := newCase(g, n, of)
					c.checkSort(t, mgr, fmt.Sprintf("%v, %d rows, nulls %v, %+v", of, n, nulls, c.directions))
					c.release()
				}
			}
		}
	})
}

// TestKernelsSortMixes sorts by several keys of any types on GPUs.
func TestKernelsSortMixes(t *testing.T) {
	onKernels(t, func(t *testing.T, mgr *memory.Manager) {
		property.Check(t, func(t *rapid.T) {
			g := arraytest.NewGenerator(rapid.Uint64().Draw(t, "seed"))
			g.Sliced = rapid.Bool().Draw(t, "sliced")
			g.Nulls = arraytest.Nulls(rapid.IntRange(0, 1).Draw(t, "nulls"))
			types := rapid.SliceOfN(rapid.SampledFrom(ordertest.Types()), 1, 4).Draw(t, "types")
			c := newCase(g, rapid.IntRange(0, 300).Draw(t, "rows"), types...)
			c.checkSort(t, mgr, "mix")
			c.release()
		})
	})
}

// TestKernelsRestoreKeys sorts tables with keys that are restored from the sorted words:
// nulls, zeros of both signs, NaNs, and columns of one value, and narrow ranges.
func TestKernelsRestoreKeys(t *testing.T) {
	onKernels(t, func(t *testing.T, mgr *memory.Manager) {
		for number, types := range [][]arrow.DataType{
			{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int32}, {arrow.PrimitiveTypes.Float32},
			{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int16, arrow.FixedWidthTypes.Date32}, {arrow.PrimitiveTypes.Float64},
			{arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Uint8}, {arrow.FixedWidthTypes.Timestamp_us},
		} {
			for _, n := range []int{40, 5000} {
				if hurried(mgr.Device()) && n > 4096 && number%3 != 0 {
					continue
				}
				g := arraytest.NewGenerator(uint64(number))
				g.Nulls = arraytest.Nulls(number % 2)
				c := newCase(g, n, types...)
				c.checkSort(t, mgr, fmt.Sprint(types, n))
				c.release()
				if number > 0 {
					continue
				}
				c = sortCase{directions: ordertest.Directions[:3]}
				for _, values := range []func(i int) int64{
					func(i int) int64 { return int64(i*i%11) - 5 }, func(int) int64 { return -77 }, func(i int) int64 { return int64(i%7) << 40 },
				} {
					b := array.NewInt64Builder(arrowmemory.NewGoAllocator())
					for i := range n {
						b.Append(values(i))
					}
					c.arrays = append(c.arrays, b.NewArray())
					b.Release()
				}
				c.checkSort(t, mgr, fmt.Sprint("narrow ranges, ", n))
				c.release()
				narrowDecimals(n).each(t, mgr)
			}
		}
	})
}

// decimals are columns of decimals that are sorted as shorter numbers, or nearly.
type decimals struct{ columns []arrow.Array }

// narrowDecimals returns decimals of few bits, of 64 bits and of both signs, of one value, and
// with one value that takes more bits.
func narrowDecimals(n int) decimals {
	var d decimals
	for kind := range 4 {
		small := array.NewDecimal128Builder(arrowmemory.NewGoAllocator(), &arrow.Decimal128Type{Precision: 38})
		large := array.NewDecimal256Builder(arrowmemory.NewGoAllocator(), &arrow.Decimal256Type{Precision: 70})
		for i := range n {
			value := int64(i*i%11) - 5
			switch {
			case kind == 1:
				value = int64(uint64(i) * 0x9e3779b97f4a7c15)
			case kind == 2:
				value = -7
			}
			wide := decimal128.FromI64(value)
			if kind == 3 && i == n/2 {
				wide = decimal128.New(1, 0)
			}
			if i%13 == 5 && kind != 2 {
				small.AppendNull()
				large.AppendNull()
				continue
			}
			small.Append(wide)
			large.Append(decimal256.FromDecimal128(wide))
		}
		d.columns = append(d.columns, small.NewArray(), large.NewArray())
		small.Release()
		large.Release()
	}
	return d
}

// each sorts a table by each of the columns, and then releases them.
func (d decimals) each(t *testing.T, mgr *memory.Manager) {
	for i, a := range d.columns {
		c := sortCase{arrays: []arrow.Array{a}, directions: ordertest.Directions[i%len(ordertest.Directions):][:1]}
		c.checkSort(t, mgr, fmt.Sprint("decimals ", i, " of ", a.DataType(), c.directions))
		c.release()
	}
}

// TestSortNarrowDecimals is the part of TestKernelsRestoreKeys for decimals on the host.
func TestSortNarrowDecimals(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	narrowDecimals(500).each(t, mgr)
}

// TestKernelsSortCompanions sorts tables with one column that is not a key.
func TestKernelsSortCompanions(t *testing.T) {
	onKernels(t, func(t *testing.T, mgr *memory.Manager) {
		for number, types := range [][]arrow.DataType{
			{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32}, {arrow.PrimitiveTypes.Int8, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Float32},
			{arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int8}, {arrow.PrimitiveTypes.Int32, arrow.FixedWidthTypes.Float16},
			{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Int32}, {arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String},
			{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint32}, {arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int64},
			{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}, {arrow.PrimitiveTypes.Uint32, arrow.FixedWidthTypes.Date32},
			{arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String}, {arrow.FixedWidthTypes.Timestamp_us, arrow.PrimitiveTypes.Float32},
			{arrow.PrimitiveTypes.Float32, arrow.FixedWidthTypes.Time32s},
		} {
			for _, n := range []int{50, 4500} {
				if hurried(mgr.Device()) && n > 50 && number%3 != 0 {
					continue
				}
				g := arraytest.NewGenerator(uint64(number))
				var c sortCase
				for i, of := range types {
					g.Nulls, g.Sliced = arraytest.NoneNull, n == 50
					if i == 0 && number < 3 {
						g.Nulls = arraytest.SomeNull
					}
					c.arrays = append(c.arrays, ordertest.Array(g, of, n))
					c.directions = append(c.directions, ordertest.Directions[(number+i)%len(ordertest.Directions)])
				}
				last := len(types) - 1
				table, want := c.table(t, mgr), sortCase{c.arrays[:last], c.directions[:last]}.want()
				sorted, err := order.Sort(t.Context(), table, c.keys()[:last])
				require.NoError(t, err)
				c.equalRows(t, sorted, want, fmt.Sprint(types, n))
				require.NoError(t, sorted.Release())
				require.NoError(t, table.Release())
				c.release()
			}
		}
	})
}

// TestKernelsSortTiles sorts more rows than a tile has.
func TestKernelsSortTiles(t *testing.T) {
	onKernels(t, func(t *testing.T, mgr *memory.Manager) {
		for number, types := range [][]arrow.DataType{
			{arrow.PrimitiveTypes.Int32}, {arrow.PrimitiveTypes.Float64}, {arrow.BinaryTypes.String},
			{arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64},
		} {
			if hurried(mgr.Device()) && number%2 == 0 {
				continue
			}
			g := arraytest.NewGenerator(uint64(number))
			c := newCase(g, 9001, types...)
			for _, c.directions[0].NullsFirst = range []bool{false, true}[:2-number/2] {
				c.checkSort(t, mgr, fmt.Sprint(types, c.directions))
			}
			c.release()
		}
	})
}

// TestLargeSorts compares the order of many rows on GPUs with that of the host.
func TestLargeSorts(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.EachGPU(t, func(t *testing.T, dev *device.Device) {
		mgr := poisonedManager(t, dev)
		rows := 1<<22 + 77
		if testing.Short() {
			rows = 1<<20 + 77
		}
		for number, types := range [][]arrow.DataType{
			{arrow.PrimitiveTypes.Int32}, {arrow.PrimitiveTypes.Int64}, {arrow.PrimitiveTypes.Float64}, {arrow.BinaryTypes.String},
			{&arrow.Decimal128Type{Precision: 30}}, {arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64},
			{arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64},
		} {
			for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull} {
				t.Run(fmt.Sprint(types, nulls), func(t *testing.T) {
					g := arraytest.NewGenerator(uint64(number))
					g.Nulls = nulls
					c := sortCase{}
					for _, of := range types {
						c.arrays = append(c.arrays, g.Array(of, rows))
						c.directions = append(c.directions, ordertest.Directions[number%len(ordertest.Directions)])
					}
					defer c.release()
					var orders [2][]uint32
					for i, m := range []*memory.Manager{host, mgr} {
						table := c.table(t, m)
						made, err := order.Indices(t.Context(), table, c.keys())
						require.NoError(t, err)
						orders[i] = numbers(t, made)
						require.NoError(t, table.Release())
					}
					if at := firstDifference(orders[0], orders[1]); at >= 0 {
						t.Fatalf("place %d has row %d on the host and %d on the GPU", at, orders[0][at], orders[1][at])
					}
				})
			}
		}
	})
}

// firstDifference returns the first index at which lists of one length differ, or −1.
func firstDifference(a, b []uint32) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// TestKernelsSortLongTexts sorts texts with a long common begin, which one block would compare for too long, and
// others of any length.
func TestKernelsSortLongTexts(t *testing.T) {
	onKernels(t, func(t *testing.T, mgr *memory.Manager) {
		for _, begin := range []int{0, 40, 2000} {
			texts, numbers := array.NewStringBuilder(arrowmemory.DefaultAllocator), array.NewInt32Builder(arrowmemory.DefaultAllocator)
			for row := range 60 {
				texts.Append(strings.Repeat("x", begin) + strings.Repeat("y", row*7%5) + fmt.Sprint(row*13%11))
				numbers.Append(int32(row % 3))
			}
			c := sortCase{arrays: []arrow.Array{texts.NewArray(), numbers.NewArray()}, directions: []ordertest.Direction{{Descending: begin == 40}, {}}}
			c.checkSort(t, mgr, fmt.Sprintf("%d bytes in common", begin))
			c.release()
			texts.Release()
			numbers.Release()
		}
	})
}
