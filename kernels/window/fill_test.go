package window_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
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

// sparse is an array with few valid rows: the multiples of every, and row 5.
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

// TestFillOfFewValues fills across many tiles without a value.
func TestFillOfFewValues(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, dataType := range []arrow.DataType{arrow.FixedWidthTypes.Boolean, arraytest.NewTemperature(arrow.FixedWidthTypes.Boolean), arrow.PrimitiveTypes.Int64, decimalType} {
			for _, every := range []int{100, 9000, 1 << 20} {
				in := sparse(dataType, 30_000, every)
				for _, backward := range []bool{false, true} {
					run := operation(window.FillForward)
					if backward {
						run = window.FillBackward
					}
					got := onDevice(t, mgr, run, in, window.Options{})
					for row, from := range filledFrom(in, backward) {
						if got.IsNull(row) != (from < 0) || from >= 0 && !sameValue(got, row, in, from) {
							t.Fatalf("%v every %d backward %v: row %d is %v, not row %d's", dataType, every, backward, row, got.ValueStr(row), from)
						}
					}
				}
				in.Release()
			}
		}
	})
}

func sameValue(a arrow.Array, i int, b arrow.Array, j int) bool {
	if extended, ok := a.(array.ExtensionArray); ok {
		return sameValue(extended.Storage(), i, b.(array.ExtensionArray).Storage(), j)
	}
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

func TestOneOptionAtMost(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	c := upload(t, mgr, samples(t, arrow.PrimitiveTypes.Int32, 10)[0].array)
	_, err := window.CumulativeSum(t.Context(), c, window.Options{}, window.Options{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = window.FillForward(t.Context(), c, window.Options{}, window.Options{})
	require.ErrorIs(t, err, device.ErrInvalidValue)
}
