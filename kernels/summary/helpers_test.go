package summary_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

var (
	integerTypes = []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us,
	}
	floatTypes = []arrow.DataType{arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}
	allTypes   = append(append([]arrow.DataType{}, integerTypes...), floatTypes...)
)

func isUnsigned(t arrow.DataType) bool { return t.Name()[0] == 'u' }

// sample is an array to be tried.
type sample struct {
	name  string
	array arrow.Array
}

// samples are arrays of a type: of all lengths given, with some, no and only nulls,
// whole and sliced, of values that are all over the type's range, and of few values.
func samples(t testing.TB, of arrow.DataType, lengths ...int) []sample {
	var all []sample
	g := arraytest.NewGenerator(uint64(of.ID()))
	for _, n := range lengths {
		for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
			for _, few := range []bool{false, true} {
				g.Nulls, g.Sliced = nulls, nulls != arraytest.AllNull && n%2 == 1
				a := g.Array(of, n)
				width := of.(arrow.FixedWidthDataType).Bytes()
				for row := range n {
					put(raw(a, row), value(of, few, row, g.Uint64()), width)
				}
				t.Cleanup(a.Release)
				all = append(all, sample{fmt.Sprintf("%v %d nulls %v few %v", of, n, nulls, few), a})
			}
		}
	}
	return all
}

// value returns the bits of a value at random.
func value(of arrow.DataType, few bool, row int, random uint64) uint64 {
	special := []float64{math.NaN(), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 100, -100, 5e-324, 1e300}
	x := float64(int64(random>>8)%1000) / 8
	switch {
	case few && of.ID() < arrow.FLOAT16:
		return random % 3
	case few:
		x = float64(random % 3)
	case row%5 == 0:
		x = special[random%uint64(len(special))]
	}
	switch of.ID() {
	case arrow.FLOAT16:
		return uint64(float16.New(float32(x)).Uint16())
	case arrow.FLOAT32:
		return uint64(math.Float32bits(float32(x)))
	case arrow.FLOAT64:
		return math.Float64bits(x)
	}
	if row%2 == 0 {
		return random % 256 // so that some are near each other
	}
	return random
}

func put(to []byte, bits uint64, width int) {
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], bits)
	copy(to, all[:width])
}

// raw returns the bytes of a row's value.
func raw(a arrow.Array, row int) []byte {
	width := a.DataType().(arrow.FixedWidthDataType).Bytes()
	return a.Data().Buffers()[1].Bytes()[(a.Data().Offset()+row)*width:][:width]
}

// integer returns a row's value, that of an unsigned type as its bits.
func integer(a arrow.Array, row int) int64 {
	var all [8]byte
	bytes := raw(a, row)
	copy(all[:], bytes)
	x := int64(binary.LittleEndian.Uint64(all[:]))
	if shift := 64 - 8*len(bytes); !isUnsigned(a.DataType()) {
		x = x << shift >> shift
	}
	return x
}

// number returns a row's value as a float.
func number(a arrow.Array, row int) float64 {
	switch a := a.(type) {
	case *array.Float16:
		return float64(a.Value(row).Float32())
	case *array.Float32:
		return float64(a.Value(row))
	case *array.Float64:
		return a.Value(row)
	}
	if isUnsigned(a.DataType()) {
		return float64(uint64(integer(a, row)))
	}
	return float64(integer(a, row))
}

// upload keeps a slice's offset: the whole array goes to the device, and is sliced
// there.
func upload(t testing.TB, mgr *memory.Manager, in arrow.Array) *column.Column {
	t.Helper()
	data := in.Data()
	wholeData := array.NewData(data.DataType(), data.Offset()+data.Len(), data.Buffers(), nil, array.UnknownNullCount, 0)
	defer wholeData.Release()
	whole := array.MakeFromData(wholeData)
	defer whole.Release()
	c, err := column.FromArray(t.Context(), mgr, whole, column.UploadOptions{})
	require.NoError(t, err)
	sliced, err := c.Slice(data.Offset(), in.Len())
	require.NoError(t, err)
	require.NoError(t, c.Release())
	t.Cleanup(func() { require.NoError(t, sliced.Release()) })
	return sliced
}

func download(t testing.TB, c *column.Column) arrow.Array {
	t.Helper()
	a, err := c.Array(t.Context())
	require.NoError(t, err)
	t.Cleanup(a.Release)
	return a
}

func lengthsFor(dev *device.Device) []int {
	if devicetest.Emulated(dev) {
		return []int{0, 33, 5001}
	}
	return []int{0, 1, 31, 257, 2048, 2049, 9001}
}

// withRows returns a column of which only as many rows count as the device says. The
// elements behind them stay, and must not be seen.
func withRows(t testing.TB, mgr *memory.Manager, c *column.Column, rows int64) *column.Column {
	t.Helper()
	one, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	require.NoError(t, one.Upload(t.Context(), nil, []int64{rows}))
	count, err := column.NewRowCount(one, int64(c.Len()))
	require.NoError(t, err)
	require.NoError(t, one.Release())
	counted, err := c.WithRows(count)
	require.NoError(t, err)
	count.Release()
	t.Cleanup(func() { require.NoError(t, counted.Release()) })
	return counted
}
