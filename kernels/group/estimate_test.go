package group_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestHistogramEstimate compares estimates with the memory that calls use.
func TestHistogramEstimate(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, rows := range []int{0, 33, 20_000} {
			c := columntest.Upload(t, mgr, columntest.Samples(t, arrow.PrimitiveTypes.Int32, rows)[0].Array)
			for i, options := range []group.HistogramOptions{{Bins: 256, High: 256}, {Bins: 10_000, High: 3}, {Edges: []float64{1, 2, 7.5}}} {
				columntest.CheckEstimate(t, mgr, fmt.Sprintf("%d rows, options %d", rows, i), func(o kernels.Options) (*column.Column, error) {
					options.Options = o
					return group.Histogram(t.Context(), c, options)
				})
			}
		}
	})
}

// TestEstimatesOfGroups compares the bounds of unique and value counts with the memory
// that they use. The values are distinct, strings included, so that the bounds are near:
// they exceed the memory by some bytes of scratch memory for each row.
func TestEstimatesOfGroups(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, of := range []arrow.DataType{
			arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String,
			&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String},
		} {
			for _, n := range []int{0, 1, 1000, 10_000} {
				if brief(mgr) && n > 1000 {
					continue
				}
				in := arraytest.NewGenerator(3).Array(of, n)
				c, _ := columntest.UploadRows(t, mgr, in, 0, n)
				in.Release()
				for name, run := range map[string]func(context.Context, *column.Column, ...group.Options) (*buffer.Buffer, error){
					"unique": group.Unique, "value counts": group.ValueCounts,
				} {
					columntest.CheckBound(t, mgr, fmt.Sprintf("%s of %d rows of %v", name, n, of), uint64(32*n+16<<10), func(o kernels.Options) (*buffer.Buffer, error) {
						return run(t.Context(), c, o)
					})
				}
			}
		}
	})
}

// TestFewPossibleValues has types and dictionaries with fewer values than rows. The
// result has room for at most these.
func TestFewPossibleValues(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, test := range []struct {
			of       arrow.DataType
			capacity int64
		}{
			{arrow.FixedWidthTypes.Boolean, 3}, {arrow.PrimitiveTypes.Int8, 257}, {arrow.PrimitiveTypes.Int16, 3000},
			{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, -1},
		} {
			g := arraytest.NewGenerator(3)
			in := g.Array(test.of, 3000)
			c, values := columntest.UploadRows(t, mgr, in, 0, 3000)
			in.Release()
			if test.capacity < 0 {
				test.capacity = int64(c.Dictionary().Len() + 1)
			}
			unique, err := group.Unique(t.Context(), c)
			require.NoError(t, err)
			if dev.Kind() == device.Host { // knows the number of values before it allocates
				require.LessOrEqual(t, unique.Capacity(), test.capacity, "%v", test.of)
			} else {
				require.Equal(t, test.capacity, unique.Capacity(), "%v", test.of)
			}
			require.NoError(t, unique.Release())
			compare(t, c, columntest.Texts(values))
			counted := columntest.WithRows(t, mgr, c, 1234)
			compare(t, counted, columntest.Texts(values)[:1234])
		}
	})
}

// TestCodesOutsideOfTheDictionary has more different codes than the dictionary has
// values. They cannot fill the hash table, in which a kernel would then search forever.
func TestCodesOutsideOfTheDictionary(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		codes := make([]int32, 500)
		for i := range codes {
			codes[i] = int32(i) - 250
		}
		indices := columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Int32, codes)
		values := columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Int64, []int64{7, 8})
		values.LearnUnique(column.Yes)
		c, err := column.New(column.Data{
			Type:   &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.PrimitiveTypes.Int64},
			Length: len(codes), Buffers: []column.Bytes{{}, indices.Buffer(1)}, Dictionary: values,
		})
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Release()) }()
		counted, err := group.ValueCounts(t.Context(), c)
		require.NoError(t, err)
		require.NoError(t, counted.Release())
	})
}
