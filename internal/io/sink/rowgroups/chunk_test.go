package rowgroups

import (
	"bytes"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// A page that is too long for its header is an error and no damaged file.
func TestLongPages(t *testing.T) {
	most := math.MaxInt32
	k := chunk{leaf: &leaf{name: "a"}, pages: []page{{begin: 5, end: most + 5}}}
	require.NoError(t, k.check())
	k.pages = append(k.pages, page{begin: 5, end: most + 6})
	err := k.check()
	require.ErrorIs(t, err, ErrValue)
	assert.ErrorContains(t, err, `"a"`)
}

// A Bloom filter has all its values, and few others.
func TestBloom(t *testing.T) {
	for _, n := range []int{1, 30, 1000, 50_000} {
		filter := newBloom(n)
		assert.LessOrEqual(t, len(filter), max(bloomBlock, 4*n), "%d values", n)
		for i := range n {
			filter.add(mixed(uint64(i)) ^ mixed(uint64(i)*7+1)<<9)
		}
		data := append(filter.header(), filter...)
		read, err := pages.NewBloom(bytes.NewReader(data), 0, int64(len(data)))
		require.NoError(t, err)
		hits := 0
		for i := range 2 * n {
			hit, err := read.Has(mixed(uint64(i)) ^ mixed(uint64(i)*7+1)<<9)
			require.NoError(t, err)
			if i < n {
				require.True(t, hit, "value %d of %d", i, n)
			} else if hit {
				hits++
			}
		}
		if n >= 1000 {
			assert.Less(t, hits, n/50, "false hits of %d", n)
		}
	}
}

// mostDistinct is the number of values with which a dictionary is shorter, and no greater one is.
func TestMostDistinct(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		n, width := rapid.IntRange(1, 5000).Draw(r, "values"), rapid.SampledFrom([]int{4, 8}).Draw(r, "width")
		length := rapid.IntRange(1, 9*n).Draw(r, "length")
		most := mostDistinct(n, width, length)
		require.LessOrEqual(r, most, n/2)
		for distinct := most + 1; distinct <= n/2; distinct++ {
			require.GreaterOrEqual(r, distinct*width+indicesLength(n, distinct), length, "%d distinct values", distinct)
		}
	})
}

// Texts that are cut off stay bounds, and characters stay whole.
func TestCutBounds(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		isUTF8 := rapid.Bool().Draw(r, "UTF-8")
		var text []byte
		if isUTF8 {
			text = []byte(rapid.StringOfN(rapid.RuneFrom([]rune{'a', 'é', 0xD7FF, 0x10FFFF, 0x7F, 0xFFFF}), 0, 40, -1).Draw(r, "text"))
		} else {
			text = rapid.SliceOfN(rapid.SampledFrom([]byte{0, 'a', 0xFE, 0xFF}), 0, 130).Draw(r, "text")
		}
		low, high := cutLow(text, isUTF8), cutHigh(text, isUTF8)
		require.LessOrEqual(r, bytes.Compare(low.value, text), 0)
		require.GreaterOrEqual(r, bytes.Compare(high.value, text), 0)
		require.Equal(r, bytes.Equal(low.value, text), low.exact)
		require.LessOrEqual(r, len(low.value), longestBound)
		if high.exact {
			require.Equal(r, text, high.value[:len(high.value):len(high.value)])
		}
		if isUTF8 {
			require.Equal(r, string(low.value), string([]rune(string(low.value))))
			require.Equal(r, string(high.value), string([]rune(string(high.value))))
		}
	})
}

// blockedWriter writes all but the magic of a file when it is released.
type blockedWriter struct{ released chan struct{} }

func (b blockedWriter) Write(p []byte) (int, error) {
	if string(p) != parquetformat.Magic {
		<-b.released
	}
	return len(p), nil
}

// A writer does not take more row groups than it may hold while the file is not written.
func TestRowGroupsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := array.NewInt64Builder(arrowmemory.DefaultAllocator)
		b.AppendValues([]int64{1, 2, 3}, nil)
		record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil), []arrow.Array{b.NewArray()}, 3)
		to := blockedWriter{make(chan struct{})}
		w, err := NewWriter(to, record.Schema(), Options{Codec: parquetformat.Zstd})
		require.NoError(t, err)
		defer w.Abort()
		var taken atomic.Int64
		written := make(chan error)
		go func() {
			for range 50 {
				if err := w.Write(t.Context(), []arrow.Record{record}); err != nil {
					written <- err
					return
				}
				taken.Add(1)
			}
			written <- w.Close(t.Context())
		}()
		synctest.Wait()
		require.LessOrEqual(t, taken.Load(), int64(groupsInFlight+1))
		require.Positive(t, taken.Load())
		close(to.released)
		require.NoError(t, <-written)
		require.EqualValues(t, 50, taken.Load())
	})
}
