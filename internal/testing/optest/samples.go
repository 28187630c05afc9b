package optest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/race"
	"github.com/gpuframe/gpuframe/memory"
)

// few are numbers of rows within one warp and one block.
var few = []int{0, 1, 31, 33, 257}

// mostShort is the largest number of rows of short tests: more than two tiles of the
// cumulative kernels and of fills.
const mostShort = 20_000

// lengths returns the numbers of rows for a type on a device. The emulator gets the
// operator's lengths for the first type only, and so does the host in short tests, which
// leave out the longest; the race detector gets none of them.
func (s *Spec) lengths(dev *device.Device, dataType arrow.DataType) []int {
	first := arrow.TypeEqual(dataType, s.Types[0])
	switch {
	case race.Enabled && first:
		return few
	case race.Enabled:
		return []int{33}
	case !first && (devicetest.Emulated(dev) || testing.Short() && dev.Kind() == device.Host):
		return append([]int{1000}, few...)
	}
	lengths := slices.Concat(few, s.Lengths)
	if testing.Short() {
		lengths = slices.DeleteFunc(lengths, func(n int) bool { return n > mostShort })
	}
	return lengths
}

// eachSample calls f for arrays of a type: whole and sliced, with some, no and only
// nulls.
func eachSample(dataType arrow.DataType, lengths []int, f func(name string, in arrow.Array)) {
	g := arraytest.NewGenerator(uint64(dataType.ID()))
	for _, n := range lengths {
		for nulls, name := range []string{arraytest.SomeNull: "some", arraytest.NoneNull: "no", arraytest.AllNull: "only"} {
			for _, sliced := range []bool{false, true} {
				if n > 5000 && sliced != (nulls == int(arraytest.SomeNull)) {
					continue // two long arrays are enough
				}
				g.Nulls, g.Sliced = arraytest.Nulls(nulls), sliced
				in := g.Array(dataType, n)
				f(fmt.Sprintf("%v, %d rows, %s nulls, sliced %v", dataType, n, name, sliced), in)
				in.Release()
			}
		}
	}
}

// sample returns one array of a type, with nulls.
func sample(dataType arrow.DataType, n int) arrow.Array {
	g := arraytest.NewGenerator(uint64(n))
	g.Sliced = true
	return g.Array(dataType, n)
}

// upload makes a column of an array until the end of the test. The column keeps the
// array's offset. Each buffer has a separate allocation, which ends with the last row.
func upload(t testing.TB, mgr *memory.Manager, in arrow.Array) *column.Column {
	t.Helper()
	data := in.Data()
	end := data.Offset() + data.Len()
	copied := column.Data{
		Type: in.DataType(), Length: data.Len(), Offset: data.Offset(), NullCount: in.NullN(), Buffers: make([]column.Bytes, 2), Manager: mgr,
	}
	for i, buffer := range data.Buffers() {
		width := 1
		if i == 1 {
			width = in.DataType().(arrow.FixedWidthDataType).BitWidth()
		}
		bytes := (end*width + 7) / 8
		if buffer == nil || bytes == 0 {
			continue
		}
		slice, err := memory.NewSlice[uint8](mgr, bytes, memory.AllocateOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, slice.Release()) }()
		require.NoError(t, slice.Upload(t.Context(), nil, buffer.Bytes()[:bytes]))
		copied.Buffers[i] = slice
	}
	c, err := column.New(copied)
	require.NoError(t, err)
	return c
}

// counted returns the column with a row count on the device.
func counted(t testing.TB, mgr *memory.Manager, c *column.Column, rows int64) *column.Column {
	t.Helper()
	counter, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, counter.Upload(t.Context(), nil, []int64{rows}))
	count, err := column.NewRowCount(counter, int64(c.Len()))
	require.NoError(t, err)
	require.NoError(t, counter.Release())
	defer count.Release()
	limited, err := c.WithRows(count)
	require.NoError(t, err)
	return limited
}

// requireResult compares a column with the expected array and releases the column.
func requireResult(t testing.TB, name string, result *column.Column, want arrow.Array) {
	t.Helper()
	got, err := result.Array(t.Context())
	require.NoError(t, err, name)
	defer got.Release()
	require.NoError(t, result.Release())
	require.Truef(t, arrow.TypeEqual(want.DataType(), got.DataType()), "%s: the result is %v, not %v", name, got.DataType(), want.DataType())
	require.Equal(t, want.Len(), got.Len(), name)
	if array.Equal(got, want) {
		return
	}
	for row := range want.Len() { // NaN equals NaN
		if got.IsNull(row) != want.IsNull(row) || want.IsValid(row) && got.ValueStr(row) != want.ValueStr(row) {
			t.Fatalf("%s: row %d is %s, not %s", name, row, got.ValueStr(row), want.ValueStr(row))
		}
	}
}
