package column_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// rowCount makes a count in device memory, until the end of the test.
func rowCount(t testing.TB, mgr *memory.Manager, rows, capacity int64) *column.RowCount {
	t.Helper()
	slice, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{Tag: "rows"})
	require.NoError(t, err)
	require.NoError(t, slice.Upload(t.Context(), nil, []int64{rows}))
	count, err := column.NewRowCount(slice, capacity)
	require.NoError(t, err)
	require.NoError(t, slice.Release())
	t.Cleanup(func() { require.NoError(t, count.Release()) })
	return count
}

// withRows copies an array to the device, with a row count that only the device has,
// until the end of the test. The column begins at an offset.
func withRows(t testing.TB, mgr *memory.Manager, a arrow.Array, offset int, rows int64) *column.Column {
	t.Helper()
	whole, err := column.FromArray(t.Context(), mgr, a, column.UploadOptions{})
	require.NoError(t, err)
	part, err := whole.Slice(offset, a.Len()-offset)
	require.NoError(t, err)
	c, err := part.WithRows(rowCount(t, mgr, rows, int64(a.Len()-offset)))
	require.NoError(t, err)
	require.NoError(t, errors.Join(whole.Release(), part.Release()))
	t.Cleanup(func() { require.NoError(t, c.Release()) })
	return c
}

// Columns of every type have the counted rows, at any offset.
func TestArrayOfCountedColumns(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(7)
		for _, dataType := range arraytest.AllTypes() {
			t.Run(dataType.String(), func(t *testing.T) {
				a := g.Array(dataType, 40)
				defer a.Release()
				for _, offset := range []int{0, 3, 8} {
					for _, rows := range []int{0, 1, 29, 40 - offset} {
						c := withRows(t, mgr, a, offset, int64(rows))
						got, err := c.Array(t.Context())
						require.NoError(t, err)
						want := array.NewSlice(a, int64(offset), int64(offset+rows))
						require.Equal(t, plains(want), plains(got), "offset %d, %d rows", offset, rows)
						want.Release()
						got.Release()
					}
				}
			})
		}
	})
}

// Children with elements for every row have a count.
func TestChildrenOfCountedColumns(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		g := arraytest.NewGenerator(9)
		number := arrow.Field{Name: "number", Type: arrow.PrimitiveTypes.Int32, Nullable: true}
		pair := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32)
		for name, c := range property.InOrder(map[string]struct {
			dataType arrow.DataType
			// path leads to the child, which has factor elements for every element.
			path   []int
			factor int
		}{
			"struct":                    {arrow.StructOf(number), []int{0}, 1},
			"struct in a struct":        {arrow.StructOf(arrow.Field{Name: "inner", Type: arrow.StructOf(number)}), []int{0, 0}, 1},
			"sparse union":              {arrow.SparseUnionOf([]arrow.Field{number}, []arrow.UnionTypeCode{3}), []int{0}, 1},
			"fixed-size list":           {pair, []int{0}, 2},
			"fixed-size list of lists":  {arrow.FixedSizeListOf(3, pair), []int{0, 0}, 6},
			"fixed-size list of struct": {arrow.FixedSizeListOf(3, arrow.StructOf(number)), []int{0, 0}, 3},
		}) {
			for _, offset := range []int{0, 5} {
				t.Run(name, func(t *testing.T) {
					a := g.Array(c.dataType, 20)
					defer a.Release()
					counted := withRows(t, mgr, a, offset, 7)
					child, want := counted, a.Data()
					for _, i := range c.path {
						child, want = child.Child(i), want.Children()[i]
					}
					elements := (offset + 7) * c.factor
					assert.Equal(t, 20*c.factor, child.Len())
					if offset == 0 && c.factor == 1 {
						assert.Same(t, counted.RowCount(), child.RowCount())
					} else {
						assert.Nil(t, child.DeviceRows().Block(), "the child's count is not in device memory")
						assert.EqualValues(t, 20*c.factor, child.RowCount().Capacity())
					}
					_, known := child.HostRows()
					assert.False(t, known)
					_, err := child.Slice(0, 1)
					require.ErrorIs(t, err, column.ErrRowsOnDevice)
					rows, rowsOnDevice, err := child.Extent(t.Context())
					require.NoError(t, err)
					if rowsOnDevice.Block() == nil {
						assert.Equal(t, elements, rows)
					}
					got, err := child.Array(t.Context())
					require.NoError(t, err)
					defer got.Release()
					whole := array.MakeFromData(want)
					defer whole.Release()
					part := array.NewSlice(whole, 0, int64(elements))
					defer part.Release()
					assert.Equal(t, plains(part), plains(got))
					rows, known = counted.HostRows()
					assert.True(t, known, "the count is fetched once for parent and child")
					assert.Equal(t, 7, rows)
				})
			}
		}
	})
}

// Views of a counted column have its count.
func TestViewsOfCountedColumns(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	g := arraytest.NewGenerator(5)
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
	c := withRows(t, mgr, g.Array(dictionary, 20), 2, 9)
	assert.Equal(t, "dictionary<values=utf8, indices=int16, ordered=false> column of at most 18, unknown nulls", c.String())
	values, err := c.Values()
	require.NoError(t, err)
	indices, err := c.Indices()
	require.NoError(t, err)
	again, err := column.New(c.Data())
	require.NoError(t, err)
	for _, made := range []*column.Column{values, indices, again} {
		assert.Same(t, c.RowCount(), made.RowCount())
		require.NoError(t, made.Release())
	}
	unsliced, err := c.SliceCapacity(4, 14)
	require.NoError(t, err)
	assert.Nil(t, unsliced.RowCount())
	require.NoError(t, unsliced.Release())
	_, err = c.SliceCapacity(4, 15)
	require.ErrorIs(t, err, memory.ErrRange)
	_, err = c.Describe(func(*memory.Block) int { return 0 })
	require.ErrorIs(t, err, column.ErrRowsOnDevice)

	cut, err := c.WithHostRows(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 9, cut.Len())
	assert.Nil(t, cut.RowCount())
	require.NoError(t, cut.Release())
	described, err := c.Describe(func(*memory.Block) int { return 0 })
	require.NoError(t, err)
	assert.Equal(t, 9, described.Length)
	part, err := c.Slice(3, 6)
	require.NoError(t, err)
	assert.Nil(t, part.RowCount())
	require.NoError(t, part.Release())
	_, err = c.Slice(3, 7)
	require.ErrorIs(t, err, memory.ErrRange, "a slice ends with the rows and not with the capacity")
}

// A skeleton includes the count, and the counts of children.
func TestSkeletonOfCountedColumns(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	g := arraytest.NewGenerator(5)
	number := arrow.Field{Name: "number", Type: arrow.PrimitiveTypes.Int32, Nullable: true}
	for _, dataType := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.StructOf(number), arrow.FixedSizeListOf(3, arrow.StructOf(number))} {
		for _, fetched := range []bool{false, true} {
			c := withRows(t, mgr, g.Array(dataType, 20), 3, 9)
			if fetched {
				_, err := c.NumRows(t.Context())
				require.NoError(t, err)
			}
			var columns []*column.Column
			for child := c; ; child = child.Child(0) {
				columns = append(columns, child)
				if child.NumChildren() == 0 {
					break
				}
			}
			for _, c := range columns {
				var blocks []*memory.Block
				skeleton, err := c.Skeleton(func(block *memory.Block) int {
					for i, known := range blocks {
						if known == block {
							return i
						}
					}
					blocks = append(blocks, block)
					return len(blocks) - 1
				})
				require.NoError(t, err)
				require.Len(t, blocks, 2)
				again, err := skeleton.Column(blocks)
				require.NoError(t, err)
				_, before := c.HostRows()
				_, known := again.HostRows()
				assert.Equal(t, before, known)
				requireSameArray(t, c, again)
				require.NoError(t, again.Release())
				_, err = skeleton.Column(blocks[:1])
				require.ErrorIs(t, err, memory.ErrRange)
			}
		}
	}
}

func requireSameArray(t *testing.T, want, got *column.Column) {
	t.Helper()
	a, err := want.Array(t.Context())
	require.NoError(t, err)
	defer a.Release()
	b, err := got.Array(t.Context())
	require.NoError(t, err)
	defer b.Release()
	require.Equal(t, plains(a), plains(b))
}

func TestRowCountsAreChecked(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		a := arraytest.NewGenerator(5).Array(arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int8), 20)
		defer a.Release()
		for _, rows := range []int64{-1, 21, math.MaxInt64, math.MinInt64} {
			c := withRows(t, mgr, a, 0, rows)
			for _, each := range []*column.Column{c, c.Child(0)} {
				_, err := each.NumRows(t.Context())
				require.ErrorIs(t, err, column.ErrRows)
				_, err = each.Array(t.Context())
				require.ErrorIs(t, err, column.ErrRows)
				_, known := each.HostRows()
				assert.False(t, known)
			}
			// The next attempt fetches the count again.
			require.NoError(t, c.DeviceRows().Upload(t.Context(), nil, []int64{20}))
			got, err := c.Child(0).NumRows(t.Context())
			require.NoError(t, err)
			assert.Equal(t, 60, got)
		}
	})
}

func TestRowCountsThatDoNotFit(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	a := arraytest.NewGenerator(5).Array(arrow.PrimitiveTypes.Int8, 20)
	c := withRows(t, mgr, a, 0, 9)
	other := rowCount(t, mgr, 9, 20)
	_, err := c.WithRows(other)
	require.ErrorIs(t, err, column.ErrRows)
	_, err = c.WithRows(rowCount(t, mgr, 9, 19))
	require.ErrorIs(t, err, column.ErrRows)
	data := c.Data()
	data.Length = 19
	_, err = column.New(data)
	require.ErrorIs(t, err, column.ErrRows)
	require.ErrorContains(t, err, "the capacity of the row count is 20")

	parent := column.Data{Type: arrow.StructOf(arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int8}), Length: 20, Buffers: make([]column.Bytes, 1), Children: []*column.Column{c}}
	_, err = column.New(parent)
	require.ErrorIs(t, err, column.ErrRows, "the child may have fewer elements than the parent needs")
	require.ErrorContains(t, err, "child 0 (n)")
	require.ErrorContains(t, err, "Data.Rows")
	parent.Rows = other
	_, err = column.New(parent)
	require.ErrorIs(t, err, column.ErrRows)
	parent.Rows = c.RowCount()
	made, err := column.New(parent)
	require.NoError(t, err)
	require.NoError(t, made.Release())

	_, err = c.NumRows(t.Context())
	require.NoError(t, err)
	parent.Rows = nil
	_, err = column.New(parent)
	require.ErrorIs(t, err, column.ErrRows)
	require.ErrorContains(t, err, "it has 9 rows, 20 are needed")
	require.NoError(t, other.Learn(9))
	require.ErrorIs(t, other.Learn(8), column.ErrRows)
	same, err := c.WithRows(other)
	require.NoError(t, err, "the host knows that the counts are equal")
	require.NoError(t, same.Release())

	_, err = column.NewRowCount(memory.Slice[int64]{}, 1)
	require.ErrorIs(t, err, column.ErrRows)
	_, err = column.NewRowCount(c.DeviceRows(), -1)
	require.ErrorIs(t, err, column.ErrRows)
}

// The last reference releases the device memory, and misuse is an error.
func TestRowCountReferences(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	slice, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
	require.NoError(t, err)
	count, err := column.NewRowCount(slice, 3)
	require.NoError(t, err)
	require.NoError(t, slice.Release())
	assert.Same(t, mgr, count.Manager())
	require.NoError(t, count.Retain())
	require.NoError(t, count.Release())
	assert.EqualValues(t, 1, mgr.Stats().Blocks)
	require.NoError(t, count.Release())
	assert.Zero(t, mgr.Stats().Blocks)
	require.ErrorIs(t, count.Release(), memory.ErrReleased)
	require.ErrorIs(t, count.Retain(), memory.ErrReleased)
	_, err = count.Fetch(t.Context())
	require.ErrorIs(t, err, memory.ErrReleased)
	_, err = column.NewRowCount(slice, 3)
	require.ErrorIs(t, err, memory.ErrReleased)
	var none *column.RowCount
	require.NoError(t, none.Release())
	require.ErrorIs(t, none.Retain(), memory.ErrReleased)
}

// Goroutines fetch the count concurrently, for the race detector.
func TestRowCountIsFetchedFromAnyGoroutine(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		a := arraytest.NewGenerator(5).Array(arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int8), 20)
		defer a.Release()
		c := withRows(t, mgr, a, 0, 9)
		var group errgroup.Group
		for i := range 8 {
			group.Go(func() error {
				each, want := c, 9
				if i%2 == 0 {
					each, want = c.Child(0), 27
				}
				rows, err := each.NumRows(context.Background())
				if err == nil && rows != want {
					err = errors.New("wrong number of rows")
				}
				return err
			})
		}
		require.NoError(t, group.Wait())
	})
}
