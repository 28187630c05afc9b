package hashtable_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/hashtable"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TestMatch compares the numbers of slices of random columns with those of a map.
func TestMatch(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := property.Random(t)
		for _, dataType := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary} {
			for _, n := range [][2]int{{0, 0}, {0, 5}, {7, 0}, {1, 300}, {33, 2000}, {900, 900}} {
				for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
					t.Run(fmt.Sprint(dataType, n, nulls), func(t *testing.T) {
						g := arraytest.NewGenerator(random.Uint64())
						g.Nulls = nulls
						// Both are rows of one column, so that they have values in common.
						all := columntest.Repeated(t, g, dataType, 1+n[0]/2, 5+n[0]+n[1])
						keys, keyValues := columntest.UploadRows(t, mgr, all, 5, 5+n[0])
						others, otherValues := columntest.UploadRows(t, mgr, all, 5+n[0], 5+n[0]+n[1])
						keyNumbers, otherNumbers, err := hashtable.Match(t.Context(), keys, others, kernels.Options{})
						require.NoError(t, err)
						firsts := map[string]uint32{}
						for row, text := range columntest.Texts(keyValues) {
							if _, known := firsts[text]; !known {
								firsts[text] = uint32(row)
							}
						}
						compareNumbers(t, keyNumbers, columntest.Texts(keyValues), firsts, n[0])
						compareNumbers(t, otherNumbers, columntest.Texts(otherValues), firsts, n[0])
					})
				}
			}
		}
	})
}

// compareNumbers compares the numbers of values with those of firsts, or absent without one, and releases
// the column.
func compareNumbers(t *testing.T, numbers *column.Column, texts []string, firsts map[string]uint32, absent int) {
	t.Helper()
	values, err := numbers.Array(t.Context())
	require.NoError(t, err)
	defer values.Release()
	require.NoError(t, numbers.Release())
	require.Equal(t, len(texts), values.Len())
	for row, text := range texts {
		if text == columntest.Null {
			require.True(t, values.IsNull(row), "row %d", row)
			continue
		}
		want, known := firsts[text]
		if !known {
			want = uint32(absent)
		}
		require.Equal(t, want, values.(*array.Uint32).Value(row), "row %d: %q", row, text)
	}
}
