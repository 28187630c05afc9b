package column_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// requireTB is the common interface of *testing.T and *rapid.T.
type requireTB interface {
	require.TestingT
	Helper()
}

// plain returns element i as text that does not depend on how it is encoded.
func plain(a arrow.Array, i int) string {
	switch a := a.(type) {
	case *array.Dictionary:
		if a.IsNull(i) {
			return "null"
		}
		return plain(a.Dictionary(), a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return plain(a.Values(), a.GetPhysicalIndex(i))
	case array.ExtensionArray:
		return plain(a.Storage(), i)
	case array.Union:
		at, child := i, a.Field(a.ChildID(i))
		if dense, ok := a.(*array.DenseUnion); ok {
			at = int(dense.ValueOffset(i))
		}
		return fmt.Sprint(a.TypeCode(i), plain(child, at))
	}
	if a.IsNull(i) {
		return "null"
	}
	switch a := a.(type) {
	case *array.Null:
		return "null"
	case *array.Struct:
		var parts []string
		for k := range a.NumField() {
			parts = append(parts, plain(a.Field(k), i))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		var parts []string
		for k := from; k < to; k++ {
			parts = append(parts, plain(a.ListValues(), int(k)))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *array.FixedSizeBinary:
		return fmt.Sprintf("%x", a.Value(i))
	case array.BinaryLike, array.ViewLike:
		return fmt.Sprintf("%q", a.(interface{ ValueStr(int) string }).ValueStr(i))
	}
	text, err := json.Marshal(a.GetOneForMarshal(i))
	if err != nil {
		return a.ValueStr(i)
	}
	return string(text)
}

func plains(a arrow.Array) []string {
	texts := make([]string, a.Len())
	for i := range texts {
		texts[i] = plain(a, i)
	}
	return texts
}

// requireChunks requires that an array holds the elements of the chunks. If the
// encodings are the same, arrow-go's comparison must agree.
func requireChunks(t requireTB, chunks []arrow.Array, got arrow.Array) {
	t.Helper()
	var want []string
	for _, chunk := range chunks {
		require.True(t, arrow.TypeEqual(chunk.DataType(), got.DataType()))
		want = append(want, plains(chunk)...)
	}
	require.Equal(t, len(want), got.Len())
	for i, text := range want {
		if text != plain(got, i) {
			require.Equal(t, text, plain(got, i), "element %d", i)
		}
	}
	if len(chunks) == 1 && !strings.Contains(strings.Join(want, ""), "NaN") { // NaN equals nothing
		require.True(t, array.Equal(chunks[0], got), "want %v\ngot  %v", chunks[0], got)
	}
}

// cuts are parts of an array of n elements that do and do not begin and end at byte
// boundaries of a bitmap.
func cuts(n int) [][2]int {
	all := [][2]int{{0, n}, {n, n}, {0, 0}}
	for _, offset := range []int{1, 3, 8, 13} {
		for _, length := range []int{0, 7, 16, n - offset} {
			if offset+length <= n && length >= 0 {
				all = append(all, [2]int{offset, offset + length})
			}
		}
	}
	return all
}

func TestRoundTripOfEveryType(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for number, dataType := range arraytest.AllTypes() {
			for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
				t.Run(fmt.Sprintf("%v/%d", dataType, nulls), func(t *testing.T) {
					g := arraytest.NewGenerator(uint64(number))
					g.Nulls = nulls
					for _, n := range []int{0, 1, 70} {
						for _, g.Sliced = range []bool{false, true} {
							whole := g.Array(dataType, n)
							for _, cut := range cuts(n) {
								slice := array.NewSlice(whole, int64(cut[0]), int64(cut[1]))
								there, back := travel(t, mgr, []arrow.Array{slice})
								requireChunks(t, []arrow.Array{slice}, back)
								requireTidy(t, there)
								back.Release()
								require.NoError(t, there.Release())
								slice.Release()
							}
							whole.Release()
						}
					}
				})
			}
		}
		require.Zero(t, mgr.Stats().InUse)
		require.Zero(t, mgr.Stats().Blocks)
	})
}

// travel copies chunks to the device in one allocation and back.
func travel(t *testing.T, mgr *memory.Manager, chunks []arrow.Array) (there *column.Column, back arrow.Array) {
	t.Helper()
	before := mgr.Stats()
	columns, err := column.FromArrays(t.Context(), mgr, [][]arrow.Array{chunks}, column.UploadOptions{})
	require.NoError(t, err)
	require.Equal(t, before.Allocations+1, mgr.Stats().Allocations)
	back, err = columns[0].Array(t.Context())
	require.NoError(t, err)
	return columns[0], back
}

// requireTidy requires the documented properties of columns that the package makes.
func requireTidy(t requireTB, c *column.Column) {
	t.Helper()
	require.Zero(t, c.Offset())
	require.NotEqual(t, column.UnknownNullCount, c.NullCount())
	again, err := column.New(c.Data())
	require.NoError(t, err, "its own parts do not make a column")
	require.NoError(t, again.Release())
	for i := range c.NumBuffers() {
		require.Zero(t, c.Buffer(i).Offset()%256)
		require.Zero(t, uintptr(c.Buffer(i).Pointer())%64)
	}
	for i := range c.NumChildren() {
		requireTidy(t, c.Child(i))
	}
	if c.Dictionary() != nil {
		requireTidy(t, c.Dictionary())
	}
}

func TestChunksBecomeOneColumn(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for number, dataType := range arraytest.AllTypes() {
			t.Run(dataType.String(), func(t *testing.T) {
				for _, lengths := range [][]int{{13, 40, 7}, {8, 16, 3}, {0, 5, 0}, {5, 0, 9}, {0, 0}, {64, 128}} {
					for _, sliced := range []bool{false, true} {
						g := arraytest.NewGenerator(uint64(number))
						g.Sliced = sliced
						var chunks []arrow.Array
						for i, n := range lengths {
							g.Nulls = arraytest.Nulls(i % 3)
							chunks = append(chunks, g.Array(dataType, n))
						}
						there, back := travel(t, mgr, chunks)
						requireChunks(t, chunks, back)
						requireTidy(t, there)
						back.Release()
						require.NoError(t, there.Release())
						for _, chunk := range chunks {
							chunk.Release()
						}
					}
				}
			})
		}
		require.Zero(t, mgr.Stats().InUse)
		require.Zero(t, mgr.Stats().Blocks)
	})
}

func TestSliceOnTheDevice(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for number, dataType := range arraytest.AllTypes() {
			t.Run(dataType.String(), func(t *testing.T) {
				for _, nulls := range []arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull} {
					g := arraytest.NewGenerator(uint64(number))
					g.Nulls = nulls
					whole := g.Array(dataType, 40)
					there, err := column.FromArray(t.Context(), mgr, whole, column.UploadOptions{})
					require.NoError(t, err)
					for _, cut := range cuts(40) {
						slice, err := there.Slice(cut[0], cut[1]-cut[0])
						require.NoError(t, err)
						deeper, err := slice.Slice(slice.Len()/3, slice.Len()/2)
						require.NoError(t, err)
						arrays, err := column.ToArrays(t.Context(), []*column.Column{slice, deeper, there}, column.DownloadOptions{})
						require.NoError(t, err)
						from := cut[0] + slice.Len()/3
						for i, want := range []arrow.Array{
							array.NewSlice(whole, int64(cut[0]), int64(cut[1])),
							array.NewSlice(whole, int64(from), int64(from+deeper.Len())),
							whole,
						} {
							requireChunks(t, []arrow.Array{want}, arrays[i])
							arrays[i].Release()
						}
						again, err := column.New(deeper.Data())
						require.NoError(t, err)
						require.NoError(t, again.Release())
						require.NoError(t, deeper.Release())
						require.NoError(t, slice.Release())
					}
					require.NoError(t, there.Release())
				}
			})
		}
		assert.Zero(t, mgr.Stats().Blocks)
	})
}

func TestSliceRefuses(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	c, err := column.FromArray(t.Context(), mgr, arraytest.NewGenerator(1).Array(arrow.PrimitiveTypes.Int32, 10), column.UploadOptions{})
	require.NoError(t, err)
	for _, cut := range [][2]int{{-1, 1}, {0, 11}, {11, 0}, {1, 10}, {0, -1}, {5, math.MaxInt}} {
		_, err := c.Slice(cut[0], cut[1])
		require.ErrorIs(t, err, memory.ErrRange, "%v", cut)
	}
	require.NoError(t, c.Release())
	_, err = c.Slice(0, 1)
	require.ErrorIs(t, err, memory.ErrReleased)
	_, err = c.Array(t.Context())
	require.ErrorIs(t, err, memory.ErrReleased)
	require.ErrorIs(t, c.Release(), memory.ErrReleased)
}
