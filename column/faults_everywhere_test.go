package column_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/memory"
)

// uploading copies columns, each of several chunks, to the device.
func uploading(name string, requests int, columns func(t testing.TB) [][]arrow.Array) faulttest.Operation {
	return faulttest.Operation{
		Name: name, Says: "column: upload: ", Requests: requests, Cancellable: true,
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			chunks := columns(t)
			return func(ctx context.Context) (func(testing.TB), error) {
				made, err := column.FromArrays(ctx, m, chunks, column.UploadOptions{})
				if err != nil {
					assert.Nil(t, made)
					return nil, err
				}
				return func(t testing.TB) {
					back, err := column.ToArrays(t.Context(), made, column.DownloadOptions{})
					require.NoError(t, err)
					for i, got := range back {
						requireChunks(t, chunks[i], got)
						got.Release()
						require.NoError(t, made[i].Release())
					}
				}, nil
			}
		},
	}
}

// downloading copies columns, or parts of them, to the host.
func downloading(name string, from, to int, arrays func() []arrow.Array) faulttest.Operation {
	return faulttest.Operation{
		Name: name, Says: "column: download: ", Cancellable: true,
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			whole := arrays()
			columns := make([]*column.Column, len(whole))
			for i, each := range whole {
				moved, err := column.FromArray(t.Context(), m, each, column.UploadOptions{})
				require.NoError(t, err)
				columns[i], err = moved.Slice(from, to-from)
				require.NoError(t, err)
				require.NoError(t, moved.Release())
				t.Cleanup(func() { require.NoError(t, columns[i].Release()) })
			}
			allocator := arrowmemory.NewCheckedAllocator(arrowmemory.DefaultAllocator)
			return func(ctx context.Context) (func(testing.TB), error) {
				back, err := column.ToArrays(ctx, columns, column.DownloadOptions{Allocator: allocator})
				if err != nil {
					assert.Nil(t, back)
					allocator.AssertSize(t, 0)
					return nil, err
				}
				return func(t testing.TB) {
					for i, got := range back {
						want := array.NewSlice(whole[i], int64(from), int64(to))
						require.Equal(t, plains(want), plains(got))
						want.Release()
						got.Release()
					}
					allocator.AssertSize(t, 0)
				}, nil
			}
		},
	}
}

// everyLayout is an array of each layout, nested ones among them, with nulls.
func everyLayout(rows int) (arrays []arrow.Array) {
	all := arraytest.AllTypes()
	flat := len(arraytest.FlatTypes())
	some := []arrow.DataType{
		arrow.Null, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int64,
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.StringView,
	}
	for i, dataType := range append(some, all[flat:]...) {
		arrays = append(arrays, arraytest.NewGenerator(uint64(i)).Array(dataType, rows))
	}
	return arrays
}

// differentDictionaries are chunks with dictionaries that must be merged.
func differentDictionaries(t testing.TB) [][]arrow.Array {
	var chunks []arrow.Array
	for i := range 3 {
		b := array.NewDictionaryBuilder(arrowmemory.DefaultAllocator, &arrow.DictionaryType{
			IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String,
		}).(*array.BinaryDictionaryBuilder)
		for k := range 100 {
			require.NoError(t, b.AppendString(fmt.Sprint("value ", k%(7*i+2))))
			b.AppendNull()
		}
		chunks = append(chunks, b.NewArray())
		b.Release()
	}
	return [][]arrow.Array{chunks}
}

func transfers() []faulttest.Operation {
	return []faulttest.Operation{
		uploading("FromArrays of every layout", 1, func(testing.TB) (columns [][]arrow.Array) {
			for _, each := range everyLayout(20) {
				columns = append(columns, []arrow.Array{each, array.NewSlice(each, 3, 11)})
			}
			return columns
		}),
		uploading("FromArrays of dictionaries", 1, differentDictionaries),
		downloading("ToArrays of every layout", 0, 20, func() []arrow.Array { return everyLayout(20) }),
		// Slices need several transfers, one for each level.
		downloading("ToArrays of slices of every layout", 5, 17, func() []arrow.Array { return everyLayout(20) }),
	}
}

// Each type separately: the one allocation of its upload fails.
func TestEveryAllocationFails(t *testing.T) {
	operations := transfers()
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for i, dataType := range arraytest.AllTypes() {
		each := arraytest.NewGenerator(uint64(i)).Array(dataType, 50)
		c, err := column.FromArray(t.Context(), mgr, each, column.UploadOptions{})
		require.NoError(t, err)
		requests := 1
		if mgr.Stats().InUse == 0 {
			requests = 0
		}
		require.NoError(t, c.Release())
		operations = append(operations, uploading(fmt.Sprintf("%d %v", i, dataType), requests, func(testing.TB) [][]arrow.Array {
			return [][]arrow.Array{{each}}
		}))
	}
	faulttest.EachAllocation(t, operations...)
}

func TestEveryDriverCallFails(t *testing.T) { faulttest.EachCall(t, transfers()...) }

func TestTheDeviceIsLostAtEveryDriverCall(t *testing.T) { faulttest.EachCallLost(t, transfers()...) }

func TestTheContextEndsAtEveryDriverCall(t *testing.T) {
	faulttest.EachCallCancelled(t, transfers()...)
}
