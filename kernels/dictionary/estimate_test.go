package dictionary_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/dictionary"
	"github.com/gpuframe/gpuframe/memory"
)

// TestEstimates compares the bounds with the memory that encoding and decoding use.
func TestEstimates(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, of := range []arrow.DataType{
			arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32, &arrow.Decimal128Type{Precision: 30}, arrow.BinaryTypes.String,
		} {
			for _, n := range []int{0, 1, 1000, 10_000} {
				in := arraytest.NewGenerator(3).Array(of, n)
				c, _ := columntest.UploadRows(t, mgr, in, 0, n)
				in.Release()
				name := fmt.Sprintf("%d rows of %v", n, of)
				width, _ := column.ElementBytes(of)
				columntest.CheckBound(t, mgr, "encode "+name, uint64(n*(32+2*width)+16<<10), func(o kernels.Options) (*column.Column, error) {
					return dictionary.Encode(t.Context(), c, o)
				})
				encoded, err := dictionary.Encode(t.Context(), c)
				require.NoError(t, err)
				decode := func(o kernels.Options) (*column.Column, error) { return dictionary.Decode(t.Context(), encoded, o) }
				if of == arrow.BinaryTypes.String {
					_, err := kernels.EstimateOf(decode)
					require.ErrorIs(t, err, device.ErrNotSupported)
					require.ErrorContains(t, err, "dictionary: decode: ")
				} else {
					columntest.CheckBound(t, mgr, "decode "+name, uint64(n/8+2048), decode)
				}
				require.NoError(t, encoded.Release())
			}
		}
	})
}
