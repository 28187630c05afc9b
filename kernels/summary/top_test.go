package summary_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/summary"
	"github.com/gpuframe/gpuframe/memory"
)

// ranked are the rows that are not null, the first ones first: a stable sort.
func ranked(a arrow.Array, smallest bool) []int {
	var rows []int
	for row := range a.Len() {
		if a.IsValid(row) {
			rows = append(rows, row)
		}
	}
	isFloat := a.DataType().ID() >= arrow.FLOAT16 && a.DataType().ID() <= arrow.FLOAT64
	slices.SortStableFunc(rows, func(i, j int) int {
		order := 0
		switch {
		case isFloat:
			x, y := number(a, i), number(a, j)
			if math.IsNaN(x) || math.IsNaN(y) {
				return cmp.Compare(b2i(math.IsNaN(x)), b2i(math.IsNaN(y)))
			}
			if order = cmp.Compare(x, y); order == 0 {
				order = cmp.Compare(b2i(math.Signbit(y)), b2i(math.Signbit(x)))
			}
		case isUnsigned(a.DataType()):
			order = cmp.Compare(uint64(integer(a, i)), uint64(integer(a, j)))
		default:
			order = cmp.Compare(integer(a, i), integer(a, j))
		}
		if smallest {
			return order
		}
		return -order
	})
	return rows
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestTopK(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		ks := []int{0, 1, 10, 33, 1000, summary.MaxTop}
		if devicetest.Emulated(dev) {
			ks = []int{1, 100, summary.MaxTop}
		}
		for _, of := range allTypes {
			for i, s := range samples(t, of, lengthsFor(dev)...) {
				c := upload(t, mgr, s.array)
				for _, smallest := range []bool{false, true} {
					want := ranked(s.array, smallest)
					for _, k := range ks {
						if devicetest.Emulated(dev) && smallest != (i%2 == 0) {
							continue
						}
						top, err := summary.TopK(t.Context(), c, k, summary.TopOptions{Smallest: smallest})
						require.NoError(t, err)
						checkTop(t, fmt.Sprintf("%s, the first %d, smallest %v", s.name, k, smallest), s.array, top, want, k)
						require.NoError(t, top.Release())
					}
				}
			}
		}
	})
}

func checkTop(t *testing.T, name string, in arrow.Array, top *summary.Top, want []int, k int) {
	t.Helper()
	values, rows := download(t, top.Values), download(t, top.Rows).(*array.Int64)
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
		require.Equal(t, raw(in, want[i]), raw(values, i), "%s: place %d", name, i)
		require.True(t, values.IsValid(i))
	}
}

// TestTopKOfCountedColumns leaves out rows if only the device knows how many there are,
// and the result has no more rows than the column: its number stays on the device too.
func TestTopKOfCountedColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for i, n := range []int{500, 9001} {
			of := allTypes[i*7%len(allTypes)]
			for _, s := range samples(t, of, n)[:3] {
				c := upload(t, mgr, s.array)
				for _, count := range []int64{0, 5, 100, 499, int64(n)} {
					name := fmt.Sprint(s.name, " rows ", count)
					shown := array.NewSlice(s.array, 0, count)
					counted := withRows(t, mgr, c, count)
					top, err := summary.TopK(t.Context(), counted, 100)
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
					top, err = summary.TopK(t.Context(), counted, 100)
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
func TestTopKOfNothing(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s := samples(t, arrow.PrimitiveTypes.Int32, 0, 33)
		for _, c := range []*column.Column{upload(t, mgr, s[0].array), upload(t, mgr, s[len(s)-1].array)} {
			top, err := summary.TopK(t.Context(), c, 0)
			require.NoError(t, err)
			for _, made := range []*column.Column{top.Values, top.Rows} {
				require.Zero(t, made.Len())
				require.Same(t, mgr, made.Manager())
			}
			require.NoError(t, top.Release())
		}
	})
}

// TestTopKLong compares many rows, at random and nearly all the same, with the host.
func TestTopKLong(t *testing.T) {
	dev := devicetest.Open(t, "cuda:0")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for _, of := range []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint8} {
		for _, s := range samples(t, of, 10_000_001) {
			on, there := upload(t, mgr, s.array), upload(t, host, s.array)
			for _, k := range []int{10, summary.MaxTop} {
				got, err := summary.TopK(t.Context(), on, k)
				require.NoError(t, err)
				want, err := summary.TopK(t.Context(), there, k)
				require.NoError(t, err)
				require.True(t, array.Equal(download(t, want.Rows), download(t, got.Rows)), s.name)
				rows, values := download(t, got.Rows).(*array.Int64), download(t, got.Values)
				for i := 0; i < rows.Len() && rows.IsValid(i); i++ {
					require.Equal(t, raw(s.array, int(rows.Value(i))), raw(values, i), s.name)
				}
				require.NoError(t, got.Release())
				require.NoError(t, want.Release())
			}
		}
	}
}

func TestTopKRefusals(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	c := upload(t, mgr, samples(t, arrow.PrimitiveTypes.Int32, 10)[0].array)
	for _, k := range []int{-1, summary.MaxTop + 1} {
		_, err := summary.TopK(t.Context(), c, k)
		require.ErrorIs(t, err, device.ErrInvalidValue)
		require.ErrorContains(t, err, "summary: top ")
	}
	_, err := summary.TopK(t.Context(), upload(t, mgr, samplesOfBooleans(t)), 1)
	require.ErrorIs(t, err, device.ErrNotSupported)
	_, err = summary.TopK(t.Context(), nil, 1)
	require.ErrorIs(t, err, memory.ErrReleased)
	var none *summary.Top
	require.NoError(t, none.Release())
}

func samplesOfBooleans(t *testing.T) arrow.Array {
	a := arraytest.NewGenerator(1).Array(arrow.FixedWidthTypes.Boolean, 10)
	t.Cleanup(a.Release)
	return a
}

func columnOf(t testing.TB, of arrow.DataType, n int, values memory.Slice[uint8]) *column.Column {
	c, err := column.New(column.Data{Type: of, Length: n, Buffers: []column.Bytes{{}, values}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Release()) })
	return c
}

func Example() {
	ctx := context.Background()
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()
	b := array.NewInt32Builder(arrowalloc.NewGoAllocator())
	defer b.Release()
	b.AppendValues([]int32{5, 40, 7, 12, 40, 31}, nil)
	delays := b.NewArray()
	defer delays.Release()
	c, err := column.FromArray(ctx, mgr, delays, column.UploadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Release()

	counts, err := summary.Histogram(ctx, c, summary.HistogramOptions{Bins: 4, Low: 0, High: 40})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer counts.Release()
	top, err := summary.TopK(ctx, c, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer top.Release()
	for _, c := range []*column.Column{counts, top.Values, top.Rows} {
		a, err := c.Array(ctx)
		fmt.Println(a, err)
	}
	// Output:
	// [2 1 0 3] <nil>
	// [40 40 31] <nil>
	// [1 4 5] <nil>
}
