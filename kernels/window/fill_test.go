package window_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// filledFrom returns the row that each row's value comes from, or −1.
func filledFrom(a arrow.Array, backward bool) []int {
	from := make([]int, a.Len())
	last := -1
	for i := range from {
		row := i
		if backward {
			row = len(from) - 1 - i
		}
		if a.IsValid(row) {
			last = row
		}
		from[row] = last
	}
	return from
}

// sparse is an array of which few rows are valid: those that are a multiple of every,
// and row 5.
func sparse(of arrow.DataType, n, every int) arrow.Array {
	values := make([]byte, n*32)
	valid := make([]byte, (n+7)/8)
	for row := range n {
		values[row*7%len(values)] = byte(row)
		if row%every == every-1 || row == 5 {
			valid[row/8] |= 1 << (row % 8)
		}
	}
	buffers := []*arrowalloc.Buffer{arrowalloc.NewBufferBytes(valid), arrowalloc.NewBufferBytes(values)}
	data := array.NewData(of, n, buffers, nil, array.UnknownNullCount, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func TestFill(t *testing.T) {
	types := append(append([]arrow.DataType{decimalType, &arrow.Decimal256Type{Precision: 60}, arrow.FixedWidthTypes.Boolean}, integerTypes...), floatTypes...)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, dataType := range types {
			all := samples(t, dataType, lengthsFor(dev)...)
			for _, every := range []int{100, 9000, 1 << 20} {
				a := sparse(dataType, 30_000, every)
				t.Cleanup(a.Release)
				all = append(all, sample{"sparse", a})
			}
			for _, s := range all {
				for _, backward := range []bool{false, true} {
					run := operation(window.FillForward)
					if backward {
						run = window.FillBackward
					}
					got := onDevice(t, mgr, run, s.array, window.Options{})
					for row, from := range filledFrom(s.array, backward) {
						if got.IsNull(row) != (from < 0) || from >= 0 && !sameValue(got, row, s.array, from) {
							t.Fatalf("%v %s backward %v: row %d is %v, not row %d's", dataType, s.name, backward, row, got.ValueStr(row), from)
						}
					}
				}
			}
		}
	})
}

func sameValue(a arrow.Array, i int, b arrow.Array, j int) bool {
	if a, ok := a.(*array.Boolean); ok {
		return a.Value(i) == b.(*array.Boolean).Value(j)
	}
	return bytes.Equal(raw(a, i), raw(b, j))
}

func TestFillOfNoNullsIsTheColumn(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		c := upload(t, mgr, samples(t, arrow.PrimitiveTypes.Int32, 10)[0].array)
		values, err := c.Values()
		require.NoError(t, err)
		defer values.Release()
		filled, err := window.FillForward(t.Context(), values)
		require.NoError(t, err)
		require.Same(t, values, filled)
		require.NoError(t, filled.Release())
	})
}

func TestRefusals(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		text := upload(t, mgr, fromStrings(t, "a", "b"))
		for name, run := range map[string]operation{
			"cumulative sum": window.CumulativeSum, "cumulative product": window.CumulativeProduct,
			"cumulative minimum": window.CumulativeMin, "cumulative maximum": window.CumulativeMax,
			"fill forward": window.FillForward, "fill backward": window.FillBackward,
		} {
			_, err := run(t.Context(), text)
			require.ErrorIs(t, err, device.ErrNotSupported)
			require.ErrorContains(t, err, "window: "+name+": the type utf8")
			_, err = run(t.Context(), nil)
			require.ErrorIs(t, err, memory.ErrReleased)
		}
		c := upload(t, mgr, samples(t, arrow.PrimitiveTypes.Int32, 10)[0].array)
		_, err := window.CumulativeSum(t.Context(), c, window.Options{}, window.Options{})
		require.ErrorIs(t, err, device.ErrInvalidValue)
		_, err = window.FillForward(t.Context(), c, window.Options{}, window.Options{})
		require.ErrorIs(t, err, device.ErrInvalidValue)
	})
}

func fromStrings(t *testing.T, values ...string) arrow.Array {
	b := array.NewStringBuilder(arrowmemory)
	defer b.Release()
	b.AppendValues(values, nil)
	a := b.NewArray()
	t.Cleanup(a.Release)
	return a
}

// TestDeviceRows leaves out rows that the count on the device leaves out. The results
// carry the count.
func TestDeviceRows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, n := range []int{100, 20_000} {
			for _, s := range samples(t, arrow.PrimitiveTypes.Int64, n) {
				c := upload(t, mgr, s.array)
				for _, rows := range []int{0, 1, 77, n - 1, n} {
					shown := array.NewSlice(s.array, 0, int64(rows))
					for i, run := range []operation{window.CumulativeSum, window.CumulativeMax, window.FillForward, window.FillBackward} {
						for _, known := range []bool{false, true} {
							counted := withRows(t, mgr, c, int64(rows))
							if known {
								_, err := counted.NumRows(t.Context())
								require.NoError(t, err)
							}
							made, err := run(t.Context(), counted, window.Options{SkipNulls: true})
							require.NoError(t, err)
							require.Equal(t, n, made.Len())
							got, err := made.Array(t.Context())
							require.NoError(t, err)
							require.NoError(t, made.Release())
							want := onDevice(t, mgr, run, shown, window.Options{SkipNulls: true})
							require.Equal(t, rows, got.Len())
							for row := range rows {
								if got.IsNull(row) != want.IsNull(row) || want.IsValid(row) && !sameValue(got, row, want, row) {
									t.Fatalf("%s, %d rows, operation %d: row %d is %v, not %v", s.name, rows, i, row, got.ValueStr(row), want.ValueStr(row))
								}
							}
							got.Release()
						}
					}
					shown.Release()
				}
			}
		}
	})
}
