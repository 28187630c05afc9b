package window_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/testing/race"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// operation is one of the package's functions.
type operation func(ctx context.Context, c *column.Column, options ...window.Options) (*column.Column, error)

// onDevice copies an array to the device, runs the operation there, and copies the
// result back.
func onDevice(t testing.TB, mgr *memory.Manager, run operation, in arrow.Array, options window.Options) arrow.Array {
	t.Helper()
	c := upload(t, mgr, in)
	result, err := run(t.Context(), c, options)
	require.NoError(t, err)
	defer func() { require.NoError(t, result.Release()) }()
	require.Equal(t, in.Len(), result.Len())
	out, err := result.Array(t.Context())
	require.NoError(t, err)
	t.Cleanup(out.Release)
	require.True(t, arrow.TypeEqual(in.DataType(), out.DataType()), "%v", out.DataType())
	return out
}

// upload keeps a slice's offset: it copies the whole array to the device and slices it
// there.
func upload(t testing.TB, mgr *memory.Manager, in arrow.Array) *column.Column {
	t.Helper()
	offset := in.Data().Offset()
	whole := unsliced(in)
	defer whole.Release()
	c, err := column.FromArray(t.Context(), mgr, whole, column.UploadOptions{})
	require.NoError(t, err)
	sliced, err := c.Slice(offset, in.Len())
	require.NoError(t, err)
	require.NoError(t, c.Release())
	t.Cleanup(func() { require.NoError(t, sliced.Release()) })
	return sliced
}

// sample is a named test array.
type sample struct {
	name  string
	array arrow.Array
}

// samples returns arrays of a type: of all given lengths, with some, no and only nulls,
// whole and sliced.
func samples(t testing.TB, of arrow.DataType, lengths ...int) []sample {
	var all []sample
	g := arraytest.NewGenerator(uint64(of.ID()))
	for _, n := range lengths {
		for nulls, name := range property.InOrder(map[arraytest.Nulls]string{arraytest.SomeNull: "some null", arraytest.NoneNull: "none null", arraytest.AllNull: "all null"}) {
			for _, sliced := range []bool{false, true} {
				if n > 5000 && sliced != (nulls == arraytest.SomeNull) {
					continue // a few lengths of these types take long enough
				}
				g.Nulls, g.Sliced = nulls, sliced
				a := g.Array(of, n)
				t.Cleanup(a.Release)
				all = append(all, sample{fmt.Sprintf("%v %d %s sliced %v", of, n, name, sliced), a})
			}
		}
	}
	return all
}

// unsliced returns the array with the rows before its first one.
func unsliced(in arrow.Array) arrow.Array {
	data := in.Data()
	whole := array.NewData(data.DataType(), data.Offset()+data.Len(), data.Buffers(), nil, array.UnknownNullCount, 0)
	defer whole.Release()
	return array.MakeFromData(whole)
}

// raw returns the bytes of a row's value.
func raw(a arrow.Array, row int) []byte {
	width := a.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
	return a.Data().Buffers()[1].Bytes()[(a.Data().Offset()+row)*width:][:width]
}

var arrowmemory = arrowalloc.NewGoAllocator()

func appendFloat(b array.Builder, x float64) {
	switch b := b.(type) {
	case *array.Float16Builder:
		b.Append(float16.New(float32(x)))
	case *array.Float32Builder:
		b.Append(float32(x))
	case *array.Float64Builder:
		b.Append(x)
	}
}

// same compares the bits of floats, but treats all NaN as equal.
func same(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Float64bits(a) == math.Float64bits(b)
}

// lengthsFor leaves out most lengths if kernels are interpreted or the race detector is
// on.
func lengthsFor(dev *device.Device) []int {
	switch {
	case race.Enabled:
		return []int{0, 33, 300}
	case devicetest.Emulated(dev):
		return []int{0, 33, 4097, 17_000}
	}
	return lengths
}
