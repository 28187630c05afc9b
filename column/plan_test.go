package column

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/testing/allocations"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// inPieces calls fill for parts of a result of bytes bytes, as a transfer does in
// chunks, into memory that is not zero.
func inPieces(t *rapid.T, bytes int, fill func(destination []byte, offset uint64)) []byte {
	result := slices.Repeat([]byte{0xa5}, bytes)
	for at := 0; at < bytes; {
		length := min(rapid.IntRange(1, 40).Draw(t, "length"), bytes-at)
		fill(result[at:at+length:at+length], uint64(at))
		at += length
	}
	return result
}

func drawBytes(t *rapid.T, name string, n int) []byte {
	return rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, name)
}

func TestBitRunsGiveTheBitsOfAllRuns(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		var runs bitRuns
		var want []byte
		start := 0
		for range rapid.IntRange(1, 5).Draw(t, "runs") {
			run := bitRun{offset: rapid.IntRange(0, 70).Draw(t, "offset"), length: rapid.IntRange(1, 300).Draw(t, "length"), start: start}
			if rapid.Bool().Draw(t, "given") {
				run.bits = drawBytes(t, "bits", bitmapBytes(run.offset+run.length))
			}
			for i := range run.length {
				if (start+i)%8 == 0 {
					want = append(want, 0)
				}
				if run.bits == nil || bitIsSet(run.bits, run.offset+i) {
					want[(start+i)/8] |= 1 << ((start + i) % 8)
				}
			}
			runs, start = append(runs, run), start+run.length
		}
		require.Equal(t, want, inPieces(t, len(want), runs.fill))
	})
}

func TestShiftBits(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		from, count := rapid.IntRange(0, 7).Draw(t, "from"), rapid.IntRange(0, 100).Draw(t, "count")
		bitmap := drawBytes(t, "bits", bitmapBytes(from+count))
		before := slices.Clone(bitmap)
		shiftBits(bitmap, from, count)
		for i := range 8 * bitmapBytes(count) {
			require.Equal(t, i < count && bitIsSet(before, from+i), bitIsSet(bitmap, i), "bit %d", i)
		}
	})
}

func TestRewriteDoesNotDependOnThePieces(t *testing.T) {
	ids := []byte{3, 0, 127, 3, 3, 0, 0, 127, 127, 127, 3, 0, 0, 3, 3, 0}
	behind := [256]uint32{0: 5, 3: 1000, 127: 1 << 30}
	cases := map[string]struct {
		width    int
		elements rewriting
		one      func(i int, value int64) int64
	}{
		"shifted 1":   {1, shifted(1, 3), func(_ int, v int64) int64 { return v + 3 }},
		"shifted 2":   {2, shifted(2, 300), func(_ int, v int64) int64 { return v + 300 }},
		"shifted 4":   {4, shifted(4, 70000), func(_ int, v int64) int64 { return v + 70000 }},
		"shifted 8":   {8, shifted(8, 1<<40), func(_ int, v int64) int64 { return v + 1<<40 }},
		"transposed":  {2, transposed(2, []int32{9, 8, 7}), func(_ int, v int64) int64 { return []int64{9, 8, 7, 0}[min(uint16(v), 3)] }},
		"union":       {4, unionOffsets(ids, &behind), func(i int, v int64) int64 { return v + int64(behind[ids[i]]) }},
		"run ends":    {4, runEndsWithin(4, 10, 50, 7), func(_ int, v int64) int64 { return min(max(v-10, 0), 50) + 7 }},
		"run ends 16": {2, runEndsWithin(2, 3, 20, 0), func(_ int, v int64) int64 { return min(max(v-3, 0), 20) }},
	}
	for name, c := range cases {
		t.Run(name, property.Of(func(t *rapid.T) {
			source := drawBytes(t, "source", c.width*len(ids))
			got := inPieces(t, len(source), rewrite(source, c.width, c.elements))
			for i := range ids {
				want := make([]byte, 8)
				value := int64(int8(source[i]))
				if c.width > 1 {
					value = signedAt(source[i*c.width:], c.width)
				}
				putIndex(want, c.width, uint64(c.one(i, value)))
				require.Equal(t, want[:c.width], got[i*c.width:][:c.width], "element %d", i)
			}
		}))
	}
}

func TestViewsBehind(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		var source, want []byte
		for range rapid.IntRange(1, 10).Draw(t, "views") {
			view := drawBytes(t, "view", viewBytes)
			putIndex(view, 4, uint64(rapid.Int32Range(-5, 30).Draw(t, "length")))
			source = append(source, view...)
			if signedAt(view, 4) > inlineViewBytes {
				putIndex(view[8:], 4, indexAt(view[8:], 4)+3)
			}
			want = append(want, view...)
		}
		require.Equal(t, want, inPieces(t, len(source), rewrite(source, viewBytes, viewsBehind(3))))
	})
}

func TestFindRuns(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		var ends []byte
		var runOf []int
		for run := range rapid.IntRange(1, 10).Draw(t, "runs") {
			for range rapid.IntRange(1, 5).Draw(t, "length") {
				runOf = append(runOf, run)
			}
			ends = append(ends, 0, 0)
			putSigned(ends[2*run:], 2, int64(len(runOf)))
		}
		offset := rapid.IntRange(0, len(runOf)-1).Draw(t, "offset")
		length := rapid.IntRange(1, len(runOf)-offset).Draw(t, "length")
		first, last := findRuns(ends, 2, offset, length)
		require.Equal(t, runOf[offset], first)
		require.Equal(t, runOf[offset+length-1]+1, last)
		_, last = findRuns(ends, 2, offset, len(runOf)-offset+1)
		require.Negative(t, last)
	})
}

// record returns chunks of rows rows of integers, floats with nulls, and strings.
func record(columns, rows, chunks int) [][]arrow.Array {
	random := rand.New(rand.NewPCG(1, 1))
	all := make([][]arrow.Array, columns)
	for i := range all {
		for range chunks {
			var b array.Builder
			switch i % 3 {
			case 0:
				b = array.NewInt64Builder(arrowmemory.DefaultAllocator)
			case 1:
				b = array.NewFloat64Builder(arrowmemory.DefaultAllocator)
			default:
				b = array.NewStringBuilder(arrowmemory.DefaultAllocator)
			}
			for row := range rows {
				switch b := b.(type) {
				case *array.Int64Builder:
					b.Append(random.Int64())
				case *array.Float64Builder:
					if row%10 == 0 {
						b.AppendNull()
					} else {
						b.Append(random.Float64())
					}
				case *array.StringBuilder:
					b.Append("gpuframe"[:random.IntN(9)])
				}
			}
			all[i] = append(all[i], b.NewArray())
		}
	}
	return all
}

// The planner must not read the planned data: the cost of a plan must not depend on
// the number of rows.
func TestPlanCostsNoMoreForMoreRows(t *testing.T) {
	cost := func(rows int) float64 {
		columns := record(20, rows, 1)
		return allocations.PerRun(func() {
			var p planner
			_, _, err := p.planColumns(columns)
			require.NoError(t, err)
		})
	}
	assert.Equal(t, cost(100), cost(10_000))
	assert.Less(t, cost(1000), 36.0, "of these are 18 for the checks of six columns of strings")
}

func TestPlanOverflows(t *testing.T) {
	p := planner{cursor: math.MaxInt64 - 1000}
	start := p.begin()
	p.fill(400, nil)
	_, err := p.total()
	require.NoError(t, err)
	assert.Zero(t, start%bufferAlignment)
	p.fill(400, nil)
	_, err = p.total()
	require.ErrorIs(t, err, memory.ErrOverflow)
}

func TestRounds(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	b := array.NewListBuilder(arrowmemory.DefaultAllocator, arrow.ListOf(arrow.BinaryTypes.String))
	for range 100 {
		b.Append(true)
		inner := b.ValueBuilder().(*array.ListBuilder)
		inner.Append(true)
		inner.ValueBuilder().(*array.StringBuilder).AppendValues([]string{"a", "list", "of texts"}, nil)
	}
	array := b.NewArray()
	whole, err := FromArray(t.Context(), mgr, array, UploadOptions{})
	require.NoError(t, err)
	slice, err := whole.Slice(10, 20)
	require.NoError(t, err)
	for want, c := range map[int]*Column{1: whole, 4: slice} {
		d := downloader{allocator: arrowmemory.DefaultAllocator}
		_, err := d.fetch(nil, 0, c, c.Offset(), c.Len())
		require.NoError(t, err)
		rounds := 0
		for ; len(d.destinations) > 0; rounds++ {
			require.NoError(t, d.round(t.Context(), mgr.Stream()))
		}
		assert.Equal(t, want, rounds)
		d.release()
	}
	require.NoError(t, slice.Release())
	require.NoError(t, whole.Release())
}

func BenchmarkPlan(b *testing.B) {
	for _, chunks := range []int{1, 10} {
		b.Run(fmt.Sprintf("20x10000 in %d", chunks), func(b *testing.B) {
			columns := record(20, 10_000/chunks, chunks)
			b.ReportAllocs()
			for b.Loop() {
				var p planner
				if _, _, err := p.planColumns(columns); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFromArrays(b *testing.B) {
	mgr := devicetest.Manager(b, devicetest.Open(b, "host"), memory.Options{})
	columns := record(20, 10_000, 1)
	b.ReportAllocs()
	bytes := uint64(0)
	for b.Loop() {
		moved, err := FromArrays(b.Context(), mgr, columns, UploadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		bytes = moved[0].Block().Bytes()
		if err := releaseAll(nil, moved); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(bytes))
}

// This is the cost of the checks of contents: see column/RATIONALE.md.
func BenchmarkCheckedUpload(b *testing.B) {
	mgr := devicetest.Manager(b, devicetest.Open(b, "host"), memory.Options{})
	for _, dataType := range []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.BinaryTypes.StringView,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
		arrow.ListOf(arrow.PrimitiveTypes.Int32), arrow.ListViewOf(arrow.PrimitiveTypes.Int32),
	} {
		g := arraytest.NewGenerator(1)
		g.Nulls = arraytest.NoneNull
		a := g.Array(dataType, 4<<20)
		for _, unchecked := range []bool{true, false} {
			b.Run(fmt.Sprintf("%v/unchecked=%v", dataType, unchecked), func(b *testing.B) {
				bytes := uint64(0)
				for b.Loop() {
					c, err := FromArray(b.Context(), mgr, a, UploadOptions{Unchecked: unchecked})
					if err != nil {
						b.Fatal(err)
					}
					for block := range c.Blocks {
						bytes = block.Bytes()
						break
					}
					if err := c.Release(); err != nil {
						b.Fatal(err)
					}
				}
				b.SetBytes(int64(bytes))
			})
		}
	}
}

func BenchmarkToArrays(b *testing.B) {
	mgr := devicetest.Manager(b, devicetest.Open(b, "host"), memory.Options{})
	columns, err := FromArrays(b.Context(), mgr, record(20, 10_000, 1), UploadOptions{})
	require.NoError(b, err)
	b.ReportAllocs()
	b.SetBytes(int64(columns[0].Block().Bytes()))
	for b.Loop() {
		arrays, err := ToArrays(b.Context(), columns, DownloadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for _, array := range arrays {
			array.Release()
		}
	}
	require.NoError(b, releaseAll(nil, columns))
}
