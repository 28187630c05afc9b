package column_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// encoded is a dictionary array of a number of rows, with a dictionary of strings. An
// empty string is a null.
func encoded(rows int, values ...string) arrow.Array {
	b := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	for _, value := range values {
		if value == "" {
			b.AppendNull()
		} else {
			b.Append(value)
		}
	}
	indices := array.NewInt32Builder(arrowmemory.DefaultAllocator)
	for i := range rows {
		indices.Append(int32(i % len(values)))
	}
	t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	return array.NewDictionaryArray(t, indices.NewArray(), b.NewArray())
}

func TestDictionariesThatAreUnique(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	ofFloats := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
	ofFloats.AppendValues([]float64{0, 1}, nil)
	codes := array.NewInt8Builder(arrowmemory.DefaultAllocator)
	codes.Append(1)
	floats := array.NewDictionaryArray(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Float64}, codes.NewArray(), ofFloats.NewArray())
	for name, c := range map[string]struct {
		chunks []arrow.Array
		want   column.Answer
	}{
		"unique":               {[]arrow.Array{encoded(5, "a", "b", "c")}, column.Yes},
		"a null":               {[]arrow.Array{encoded(5, "a", "", "c")}, column.Yes},
		"twice":                {[]arrow.Array{encoded(5, "a", "b", "a")}, column.No},
		"two nulls":            {[]arrow.Array{encoded(5, "a", "", "")}, column.No},
		"merged":               {[]arrow.Array{encoded(5, "a", "b", "a"), encoded(5, "b", "c")}, column.Yes},
		"the same":             {[]arrow.Array{encoded(5, "a", "b"), encoded(5, "a", "b")}, column.Yes},
		"the same twice":       {[]arrow.Array{encoded(5, "a", "a"), encoded(5, "a", "a")}, column.No},
		"many, few rows":       {[]arrow.Array{encoded(5, many...)}, column.Unknown},
		"many, many rows":      {[]arrow.Array{encoded(100_000, many...)}, column.Yes},
		"floats":               {[]arrow.Array{floats}, column.Unknown},
		"no dictionary":        {[]arrow.Array{columnOfInts(t)}, column.Unknown},
		"empty, of an array":   {[]arrow.Array{encoded(0, "a", "b")}, column.Yes},
		"none, of no elements": {[]arrow.Array{array.NewSlice(encoded(3, "a"), 3, 3)}, column.Yes},
	} {
		t.Run(name, func(t *testing.T) {
			columns, err := column.FromArrays(t.Context(), mgr, [][]arrow.Array{c.chunks}, column.UploadOptions{})
			require.NoError(t, err)
			assert.Equal(t, c.want, columns[0].DictionaryUnique(), "%v", columns[0].DictionaryUnique())
			require.NoError(t, columns[0].Release())
		})
	}
}

// The known properties of a dictionary are part of its copies, including properties
// that are learned later.
func TestKnownPropertiesOfADictionary(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	c, err := column.FromArray(t.Context(), mgr, encoded(9, "a", "b", "c"), column.UploadOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Release()) }()
	part, err := c.Slice(3, 4)
	require.NoError(t, err)
	var blocks []*memory.Block
	number := func(block *memory.Block) int { blocks = []*memory.Block{block}; return 0 }
	skeleton, err := c.Skeleton(number)
	require.NoError(t, err)
	rebuilt, err := skeleton.Column(blocks)
	require.NoError(t, err)
	description, err := c.Describe(number)
	require.NoError(t, err)
	described, err := description.Column(c.Type(), blocks)
	require.NoError(t, err)
	again, err := column.New(c.Data())
	require.NoError(t, err)
	for name, made := range map[string]*column.Column{"slice": part, "skeleton": rebuilt, "description": described, "new": again} {
		assert.Equal(t, column.Yes, made.DictionaryUnique(), name)
		assert.Equal(t, column.Unknown, made.Known().Unique, name)
		require.NoError(t, made.Release())
	}

	repeated, err := column.FromArray(t.Context(), mgr, encoded(9, "a", "a", "b"), column.UploadOptions{})
	require.NoError(t, err)
	some, err := repeated.Dictionary().Slice(0, 2)
	require.NoError(t, err)
	assert.Equal(t, column.Unknown, some.Known().Unique, "some of several values may be unique")
	some.LearnUnique(column.No)
	some.LearnUnique(column.Unknown)
	assert.Equal(t, column.No, some.Known().Unique)
	require.NoError(t, some.Release())
	part, err = repeated.Slice(0, 2)
	require.NoError(t, err)
	part.Dictionary().LearnUnique(column.Yes)
	assert.Equal(t, column.Yes, repeated.DictionaryUnique(), "they share the dictionary")
	require.NoError(t, part.Release())
	require.NoError(t, repeated.Release())
	assert.Equal(t, "yes no unknown", fmt.Sprint(column.Yes, column.No, column.Unknown))
}

func TestBounds(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	ints := columnOfInts(t)
	defer ints.Release()
	c, err := column.FromArray(t.Context(), mgr, ints, column.UploadOptions{})
	require.NoError(t, err)
	_, known := c.Bounds()
	assert.False(t, known)
	c.LearnBounds(column.Bounds{Least: 1, Greatest: 7})
	bounds, known := c.Bounds()
	assert.True(t, known)
	assert.Equal(t, column.Bounds{Least: 1, Greatest: 7}, bounds)
	part, err := c.Slice(0, 1)
	require.NoError(t, err)
	_, known = part.Bounds()
	assert.False(t, known, "a part may have other bounds")
	require.NoError(t, part.Release())
	require.NoError(t, c.Release())
}

// TestTextBounds learns the bounds of strings, which slices do not have.
func TestTextBounds(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	b := array.NewStringBuilder(arrowmemory.DefaultAllocator)
	defer b.Release()
	b.AppendValues([]string{"ab", "c"}, nil)
	texts := b.NewArray()
	defer texts.Release()
	c, err := column.FromArray(t.Context(), mgr, texts, column.UploadOptions{})
	require.NoError(t, err)
	_, known := c.TextBounds()
	require.False(t, known)
	want := column.TextBounds{Shortest: 1, Longest: 2, Least: [column.BoundedBytes]byte{'a', 'b'}, Greatest: [column.BoundedBytes]byte{'c', 'b'}}
	c.LearnTextBounds(want)
	bounds, known := c.TextBounds()
	require.True(t, known)
	require.Equal(t, want, bounds)
	part, err := c.Slice(0, 1)
	require.NoError(t, err)
	_, known = part.TextBounds()
	require.False(t, known)
	require.NoError(t, part.Release())
	block := c.Buffer(2).Block()
	require.NoError(t, block.BeginExport())
	_, known = c.TextBounds()
	require.False(t, known, "the consumer may write to the memory")
	require.NoError(t, block.EndExport())
	require.NoError(t, c.Release())
}

// TestDistinctEstimate learns an estimate, which slices and memory that others may write to do not have.
func TestDistinctEstimate(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	c := columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Int32, []int32{3, 1, 2})
	_, known := c.DistinctEstimate()
	require.False(t, known)
	for _, want := range []uint64{3, 0} {
		c.LearnDistinctEstimate(want)
		estimate, known := c.DistinctEstimate()
		require.True(t, known)
		require.Equal(t, want, estimate)
	}
	part, err := c.Slice(0, 1)
	require.NoError(t, err)
	_, known = part.DistinctEstimate()
	require.False(t, known)
	require.NoError(t, part.Release())
	block := c.Buffer(1).Block()
	require.NoError(t, block.BeginExport())
	_, known = c.DistinctEstimate()
	require.False(t, known, "the consumer may write to the memory")
	require.NoError(t, block.EndExport())
}

// TestBoundsOfMemoryThatOthersWrite has bounds until the memory is exported.
func TestBoundsOfMemoryThatOthersWrite(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	c := columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Int32, []int32{3, 1, 2})
	_, known := c.Bounds()
	require.False(t, known)
	c.LearnBounds(column.Bounds{Least: 1, Greatest: 3})
	bounds, known := c.Bounds()
	require.True(t, known)
	require.Equal(t, column.Bounds{Least: 1, Greatest: 3}, bounds)
	c.LearnUnique(column.Yes)
	require.Equal(t, column.Yes, c.Known().Unique)
	require.Equal(t, column.Unknown, c.Ascending())
	c.LearnAscending(column.No)
	require.Equal(t, column.No, c.Ascending())
	block := c.Buffer(1).Block()
	require.False(t, block.MayChange())
	require.NoError(t, block.BeginExport())
	require.Equal(t, column.Unknown, c.Known().Unique)
	require.Equal(t, column.Unknown, c.Ascending())
	_, known = c.Bounds()
	require.False(t, known, "the consumer may write to the memory")
	require.NoError(t, block.EndExport())
	_, known = c.Bounds()
	require.False(t, known, "the consumer may have written to the memory")
	again := columntest.ColumnOf(t, mgr, arrow.PrimitiveTypes.Int32, []int32{3, 1, 2})
	require.False(t, again.Buffer(1).Block().MayChange(), "a block of a state that was exported before")
}
