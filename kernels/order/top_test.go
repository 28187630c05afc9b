package order_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	numbertypes "github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/ordertest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/memory"
)

// rankedRow is a row and its value, as a float or as an integer in the order of unsigned
// integers.
type rankedRow struct {
	row, nan int
	float    float64
	integer  uint64
}

// ranked are the rows that are not null, the first ones first and equal ones in order.
func ranked(a arrow.Array, smallest bool) []int {
	isFloat := a.DataType().ID() >= arrow.FLOAT16 && a.DataType().ID() <= arrow.FLOAT64
	var values []rankedRow
	for row := range a.Len() {
		if a.IsNull(row) {
			continue
		}
		x := rankedRow{row: row}
		switch {
		case isFloat:
			if x.float = columntest.Number(a, row); math.IsNaN(x.float) {
				x.nan, x.float = 1, 0
			}
		case columntest.IsUnsigned(a.DataType()):
			x.integer = uint64(columntest.Integer(a, row))
		default:
			x.integer = uint64(columntest.Integer(a, row)) ^ 1<<63
		}
		values = append(values, x)
	}
	slices.SortFunc(values, func(x, y rankedRow) int {
		order := cmp.Or(cmp.Compare(x.float, y.float), cmp.Compare(x.integer, y.integer))
		if !smallest {
			order = -order
		}
		return cmp.Or(cmp.Compare(x.nan, y.nan), order, cmp.Compare(x.row, y.row))
	})
	rows := make([]int, len(values))
	for i, x := range values {
		rows[i] = x.row
	}
	return rows
}

func TestTopKColumn(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr, turn := devicetest.Manager(t, dev, memory.Options{}), property.Turn(t)
		ks := []int{0, 1, 10, 33, 1000, order.MaxTop, order.MaxTop + 1, 8000}
		if devicetest.Emulated(dev) {
			ks = []int{1, 100, order.MaxTop, order.MaxTop + 1}
		}
		for number, of := range columntest.AllTypes {
			for i, s := range columntest.Samples(t, of, columntest.LengthsFor(dev)...) {
				if devicetest.Emulated(dev) && (i+number+turn)%3 != 0 {
					continue
				}
				c := columntest.Upload(t, mgr, s.Array)
				for _, smallest := range []bool{false, true} {
					want := ranked(s.Array, smallest)
					for j, k := range ks {
						if hurried(dev) && (i/3+j)%2 != 0 {
							continue
						}
						if devicetest.Emulated(dev) && smallest != (i%2 == 0) {
							continue
						}
						top, err := order.TopKColumn(t.Context(), c, k, order.TopOptions{Smallest: smallest})
						require.NoError(t, err)
						checkTop(t, fmt.Sprintf("%s, the first %d, smallest %v", s.Name, k, smallest), s.Array, top, want, k)
						require.NoError(t, top.Release())
					}
				}
			}
		}
	})
}

// TestTopKColumnOfCandidates finds many first rows among candidates, and among all rows if
// these are too many because most values are equal.
func TestTopKColumnOfCandidates(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		const n = 40_000
		for number, of := range []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int8} {
			if testing.Short() && devicetest.Emulated(dev) && number == 2 {
				continue
			}
			g := arraytest.NewGenerator(uint64(number))
			g.Nulls = arraytest.Nulls(number % 2)
			in := g.Array(of, n)
			c, want := columntest.Upload(t, mgr, in), ranked(in, number == 1)
			for _, k := range []int{order.MaxTop, order.MaxTop + 1} {
				// The memory of the host's candidates depends on the values.
				if dev.Kind() != device.Host || k <= order.MaxTop {
					columntest.CheckEstimate(t, mgr, fmt.Sprint("estimate of the first ", k, " of ", of), func(o kernels.Options) (*order.Top, error) {
						return order.TopKColumn(t.Context(), c, k, order.TopOptions{Options: o, Smallest: number == 1})
					})
				}
				top, err := order.TopKColumn(t.Context(), c, k, order.TopOptions{Smallest: number == 1})
				require.NoError(t, err)
				checkTop(t, fmt.Sprint("the first ", k, " of ", of), in, top, want, k)
				require.NoError(t, top.Release())
			}
			if counted := columntest.WithRows(t, mgr, c, 35_000); number < 2 {
				shown := array.NewSlice(in, 0, 35_000)
				top, err := order.TopKColumn(t.Context(), counted, order.MaxTop+1, order.TopOptions{Smallest: number == 1})
				require.NoError(t, err)
				checkTop(t, fmt.Sprint("the first of the rows that the device counts, ", of), shown, top, ranked(shown, number == 1), order.MaxTop+1)
				require.NoError(t, top.Release())
				shown.Release()
			}
			in.Release()
		}
	})
}

func checkTop(t *testing.T, name string, in arrow.Array, top *order.Top, want []int, k int) {
	t.Helper()
	values, rows := columntest.Download(t, top.Values), columntest.Download(t, top.Rows).(*array.Int64)
	require.Equal(t, min(k, in.Len()), values.Len(), name) // no padding, also if only the device knows the rows
	require.Equal(t, values.Len(), rows.Len(), name)
	for i := range values.Len() {
		if i >= len(want) {
			require.True(t, values.IsNull(i) && rows.IsNull(i), "%s: row %d", name, i)
			continue
		}
		if rows.IsNull(i) || rows.Value(i) != int64(want[i]) {
			t.Fatalf("%s: place %d is row %v, not %d", name, i, rows.ValueStr(i), want[i])
		}
		if wanted, got := columntest.Raw(in, want[i]), columntest.Raw(values, i); values.IsNull(i) || !bytes.Equal(wanted, got) {
			t.Fatalf("%s: place %d is %x, null %v, not %x", name, i, got, values.IsNull(i), wanted)
		}
	}
}

// TestTopKOfCountedColumns leaves out rows if only the device knows how many there are,
// and the result has no more rows than the column: its number stays on the device too.
func TestTopKColumnOfCountedColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for i, n := range []int{500, 9001} {
			of := columntest.AllTypes[i*7%len(columntest.AllTypes)]
			for _, s := range columntest.Samples(t, of, n)[:3] {
				c := columntest.Upload(t, mgr, s.Array)
				for _, count := range []int64{0, 5, 100, 499, int64(n)} {
					name := fmt.Sprint(s.Name, " rows ", count)
					shown := array.NewSlice(s.Array, 0, count)
					counted := columntest.WithRows(t, mgr, c, count)
					top, err := order.TopKColumn(t.Context(), counted, 100)
					require.NoError(t, err, name)
					if dev.Kind() != device.Host {
						_, known := counted.HostRows()
						require.False(t, known, "%s: the rows were fetched", name)
						require.Equal(t, 1, top.Rows.DeviceRows().Len(), name)
						require.Same(t, top.Rows.RowCount(), top.Values.RowCount(), name)
					}
					checkTop(t, name, shown, top, ranked(shown, false), 100)
					require.NoError(t, top.Release())

					_, err = counted.NumRows(t.Context())
					require.NoError(t, err)
					top, err = order.TopKColumn(t.Context(), counted, 100)
					require.NoError(t, err, name)
					require.Equal(t, min(100, int(count)), top.Rows.Len(), "%s, fetched", name)
					checkTop(t, name+", fetched", shown, top, ranked(shown, false), 100)
					require.NoError(t, top.Release())
					shown.Release()
				}
			}
		}
	})
}

// TestTopKOfNothing knows its manager.
func TestTopKColumnOfNothing(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s := columntest.Samples(t, arrow.PrimitiveTypes.Int32, 0, 33)
		for _, c := range []*column.Column{columntest.Upload(t, mgr, s[0].Array), columntest.Upload(t, mgr, s[len(s)-1].Array)} {
			top, err := order.TopKColumn(t.Context(), c, 0)
			require.NoError(t, err)
			for _, made := range []*column.Column{top.Values, top.Rows} {
				require.Zero(t, made.Len())
				require.Same(t, mgr, made.Manager())
			}
			require.NoError(t, top.Release())
		}
	})
}

// TestTopKColumnLong compares the results for many rows, random and nearly all equal, with
// those of the host.
func TestTopKColumnLong(t *testing.T) {
	dev := devicetest.Open(t, "cuda:0")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for _, of := range []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint8} {
		for _, s := range columntest.Samples(t, of, 10_000_001) {
			on, there := columntest.Upload(t, mgr, s.Array), columntest.Upload(t, host, s.Array)
			for _, k := range []int{10, order.MaxTop} {
				got, err := order.TopKColumn(t.Context(), on, k)
				require.NoError(t, err)
				want, err := order.TopKColumn(t.Context(), there, k)
				require.NoError(t, err)
				require.True(t, array.Equal(columntest.Download(t, want.Rows), columntest.Download(t, got.Rows)), s.Name)
				rows, values := columntest.Download(t, got.Rows).(*array.Int64), columntest.Download(t, got.Values)
				for i := 0; i < rows.Len() && rows.IsValid(i); i++ {
					require.Equal(t, columntest.Raw(s.Array, int(rows.Value(i))), columntest.Raw(values, i), s.Name)
				}
				require.NoError(t, got.Release())
				require.NoError(t, want.Release())
			}
		}
	}
}

func TestTopKColumnRefusals(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	c := columntest.Upload(t, mgr, columntest.Samples(t, arrow.PrimitiveTypes.Int32, 10)[0].Array)
	_, err := order.TopKColumn(t.Context(), c, -1)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.ErrorContains(t, err, "order: top ")
	days := arraytest.NewGenerator(1).Array(arrow.FixedWidthTypes.DayTimeInterval, 10)
	defer days.Release()
	_, err = order.TopKColumn(t.Context(), columntest.Upload(t, mgr, days), 1)
	require.ErrorIs(t, err, device.ErrNotSupported)
	_, err = order.TopKColumn(t.Context(), nil, 1)
	require.ErrorIs(t, err, memory.ErrReleased)
	_, err = order.TopKColumn(t.Context(), c, 1, order.TopOptions{}, order.TopOptions{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	var none *order.Top
	require.NoError(t, none.Release())
}

// TestTopKColumnOfEveryType compares values of types that are not numbers with the model.
func TestTopKColumnOfEveryType(t *testing.T) {
	eachCase(t, func(t *testing.T, mgr *memory.Manager, g *arraytest.Generator, name string, types ...arrow.DataType) {
		of := types[0]
		if _, isNumber := numbertypes.TypeOf(of); isNumber || of.ID() == arrow.NULL || of.ID() == arrow.DICTIONARY {
			return
		}
		c := newCase(g, 60, of)
		defer c.release()
		table := c.table(t, mgr)
		defer func() { require.NoError(t, table.Release()) }()
		for _, smallest := range []bool{false, true} {
			c.directions[0] = ordertest.Direction{Descending: !smallest}
			want := c.want()
			top, err := order.TopKColumn(t.Context(), table.Column(0), 20, order.TopOptions{Smallest: smallest})
			require.NoError(t, err, name)
			values, rows := columntest.Download(t, top.Values), columntest.Download(t, top.Rows).(*array.Int64)
			require.Equal(t, 20, values.Len())
			for i := range 20 {
				row := int(want[i])
				require.Equal(t, text(c.arrays[0], row), text(values, i), "%s: place %d", name, i)
				require.Equal(t, c.arrays[0].IsNull(row), rows.IsNull(i), "%s: place %d", name, i)
				require.True(t, rows.IsNull(i) || rows.Value(i) == int64(row), "%s: place %d", name, i)
			}
			require.NoError(t, top.Release())
		}
	})
}
