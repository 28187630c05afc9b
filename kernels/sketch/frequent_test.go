package sketch

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// frequencies are items with different numbers of occurrences.
var frequencies = map[string]func(r *rand.Rand, n int) []int64{
	"zipf": func(r *rand.Rand, n int) []int64 {
		zipf := rand.NewZipf(r, 1.2, 1, 1<<20)
		return occurrences(n, func(int) int64 { return int64(zipf.Uint64()) })
	},
	"uniform":  func(r *rand.Rand, n int) []int64 { return occurrences(n, func(int) int64 { return r.Int64N(5000) }) },
	"distinct": func(_ *rand.Rand, n int) []int64 { return occurrences(n, func(i int) int64 { return int64(i) }) },
	"few":      func(_ *rand.Rand, n int) []int64 { return occurrences(n, func(i int) int64 { return int64(i % 5) }) },
	"one first": func(_ *rand.Rand, n int) []int64 {
		return occurrences(n, func(i int) int64 { return int64(max(0, i-n/3)) })
	},
	"one last": func(_ *rand.Rand, n int) []int64 {
		return occurrences(n, func(i int) int64 { return int64(min(2*n/3, i)) })
	},
}

func occurrences(n int, draw func(i int) int64) []int64 {
	items := make([]int64, n)
	for i := range items {
		items[i] = draw(i)
	}
	return items
}

func frequentOfItems[T cmp.Ordered](lg int, items []T) *frequent[T] {
	f := newFrequent[T](lg)
	for _, item := range items {
		f.add(item, 1)
	}
	return f
}

// requireBounds compares the bounds of a sketch with the exact numbers. The error is at most 3.5 / places of all items, as
// DataSketches states.
func requireBounds(t *testing.T, name string, f *frequent[int64], items []int64) {
	exact := map[int64]int64{}
	for _, item := range items {
		exact[item]++
	}
	require.Equal(t, int64(len(items)), f.n, name)
	require.LessOrEqual(t, float64(f.offset), 3.5*float64(len(items))/float64(int(1)<<f.lgItems), name)
	before := int64(math.MaxInt64)
	for _, item := range f.items() {
		require.LessOrEqual(t, item.lower, exact[item.value], "%s, item %d", name, item.value)
		require.GreaterOrEqual(t, item.upper, exact[item.value], "%s, item %d", name, item.value)
		require.LessOrEqual(t, item.upper, before, name)
		before = item.upper
		delete(exact, item.value)
	}
	for item, n := range exact {
		if n > f.offset {
			require.Failf(t, name, "item %d is missing, which occurs %d times, and the error is %d", item, n, f.offset)
		}
	}
}

// TestFrequentBounds requires the bounds of whole sketches, and of ones that are merged with others of another size.
func TestFrequentBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, draw := range frequencies {
		for _, lg := range []int{3, 6, 10} {
			for _, n := range []int{1, 100, 30_000} {
				items := draw(r, n)
				requireBounds(t, name, frequentOfItems(lg, items), items)
				merged := newFrequent[int64](lg)
				for part := range slices.Chunk(items, 1+n/5) {
					require.NoError(t, merged.merge(frequentOfItems(lg+len(part)%2, part)))
				}
				requireBounds(t, name+", merged", merged, items)
				require.Equal(t, frequentOfItems(lg, items).bytes(longs{}), frequentOfItems(lg, items).bytes(longs{}), name)
			}
		}
	}
}

// TestFrequentOfTooMany refuses a merge of more items than int64 counts.
func TestFrequentOfTooMany(t *testing.T) {
	f, other := newFrequent[int64](3), newFrequent[int64](3)
	f.add(1, math.MaxInt64-1)
	other.add(2, 2)
	require.ErrorIs(t, f.merge(other), errTooMany)
}

// TestFrequentOfOthers reads the sketches that the libraries in C++ and Java wrote of the numbers from 1, with 64 places.
func TestFrequentOfOthers(t *testing.T) {
	sketchesOfOthers(t, "frequent_long_n*.sk", 16, func(file string, b []byte, n int) {
		f := requireFile(t, file, b, longs{})
		requireBounds(t, file, f, distinctItems(n, func(i int) int64 { return int64(i) }))
	})
	sketchesOfOthers(t, "frequent_string_n*.sk", 16, func(file string, b []byte, n int) {
		f := requireFile(t, file, b, texts{})
		require.Equal(t, int64(n), f.n)
		for _, item := range f.items() {
			number, err := strconv.Atoi(item.value)
			require.NoError(t, err)
			require.True(t, number >= 1 && number <= n && item.lower == 1, file)
		}
	})
}

func distinctItems[T any](n int, item func(i int) T) (list []T) {
	for i := range n {
		list = append(list, item(i+1))
	}
	return list
}

// requireFile reads a file, and the bytes that are written of it, which are as many.
func requireFile[T cmp.Ordered](t *testing.T, file string, b []byte, c codec[T]) *frequent[T] {
	f, err := parseFrequent(b, c)
	require.NoError(t, err, file)
	require.Equal(t, 6, f.lgItems, file)
	written := f.bytes(c)
	require.Len(t, written, len(b), file)
	again, err := parseFrequent(written, c)
	require.NoError(t, err, file)
	require.Equal(t, f, again, file)
	return f
}

// TestFrequentTextsOfOthers compares the items and numbers of files with strings.
func TestFrequentTextsOfOthers(t *testing.T) {
	want := map[string][]string{
		"ascii": {strings.Repeat("a", 29), strings.Repeat("b", 29), strings.Repeat("c", 29), strings.Repeat("d", 29)},
		"utf8":  {"абвгд", "еёжзи", "йклмн", "опрст", "уфхцч", "шщъыь", "эюя"},
	}
	for name, items := range want {
		for _, b := range filesOf(t, "frequent_string_"+name+"_*.sk", 2) {
			f := requireFile(t, name, b, texts{})
			exact := map[string]int64{}
			for i, item := range items {
				exact[item] = int64(i) + 1
			}
			require.Equal(t, exact, f.counts)
			require.Zero(t, f.offset)
		}
	}
}

// TestFrequentFormat reads what is written, and refuses parts of it.
func TestFrequentFormat(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 7, 500} {
		items := frequencies["zipf"](r, n)
		requireParts(t, frequentOfItems(5, items), longs{})
		words := distinctItems(n, func(i int) string { return strings.Repeat("x", i%9) })
		requireParts(t, frequentOfItems(5, words), texts{})
	}
}

func requireParts[T cmp.Ordered](t *testing.T, f *frequent[T], c codec[T]) {
	b := f.bytes(c)
	read, err := parseFrequent(b, c)
	require.NoError(t, err)
	require.Equal(t, b, read.bytes(c))
	for cut := range len(b) {
		_, err := parseFrequent(b[:cut], c)
		require.ErrorIs(t, err, errFrequent, "%d of %d bytes", cut, len(b))
	}
}

// impossibleFrequent have the form of sketches of strings and impossible contents.
func impossibleFrequent() map[string][]byte {
	valid := frequentOfItems(3, []string{"a", "b", "b"}).bytes(texts{})
	changed := func(at int, bytes ...byte) []byte {
		b := slices.Clone(valid)
		copy(b[at:], bytes)
		return b
	}
	return map[string][]byte{
		"nothing": nil, "short": valid[:7], "longer": append(slices.Clone(valid), 0), "family": changed(atFamily, 15), "version": changed(atVersion, 2),
		"small table": changed(atLgItems, 2), "great table": changed(atLgItems, 27), "counters": changed(atItems, 7), "many counters": changed(atItems, 255, 255, 255, 255),
		"no items": changed(atLength, 0), "fewer items": changed(atLength, 2), "negative items": changed(atLength+7, 128),
		"negative offset": changed(atOffset+7, 128), "offset": changed(atOffset, 1), "counter of 0": changed(atCounters, 0), "negative counter": changed(atCounters+7, 128),
		"twice": changed(len(valid)-1, 'b'), "long string": changed(len(valid)-5, 255, 255, 255, 255), "string": changed(len(valid)-5, 2),
	}
}

// TestImpossibleFrequent refuses impossible sketches, and allocates nothing for items that are missing.
func TestImpossibleFrequent(t *testing.T) {
	for name, b := range impossibleFrequent() {
		_, err := parseFrequent(b, texts{})
		require.ErrorIs(t, err, errFrequent, name)
	}
	short := make([]byte, atCounters)
	copy(short, newFrequent[int64](mostLgItems).bytes(longs{}))
	short[atItemFlags], short[atLength+6] = 0, 1
	binary.LittleEndian.PutUint32(short[atItems:], MostItems/2)
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() {
		_, err := parseFrequent(short, longs{})
		require.ErrorIs(t, err, errFrequent)
	}), 64.0)
}

// FuzzParseFrequent requires that bytes of any contents are an error, or a sketch that is written and merged.
func FuzzParseFrequent(f *testing.F) {
	for _, n := range []int{0, 1, 5, 300} {
		f.Add(frequentOfItems(4, distinctItems(n, strconv.Itoa)).bytes(texts{}))
		f.Add(frequentOfItems(4, distinctItems(n, func(i int) int64 { return int64(i % 50) })).bytes(longs{}))
	}
	for _, b := range impossibleFrequent() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		requireSketch := func(n int64, written, again []byte, merged, err error) {
			if err != nil {
				require.ErrorIs(t, err, errFrequent)
				return
			}
			require.Equal(t, written, again)
			if merged != nil {
				require.ErrorIs(t, merged, errTooMany)
				require.Greater(t, n, int64(math.MaxInt64/2))
			}
		}
		requireSketch(readAndMerge(b, texts{}))
		requireSketch(readAndMerge(b, longs{}))
	})
}

// readAndMerge reads bytes, writes and reads them again, and merges both sketches.
func readAndMerge[T cmp.Ordered](b []byte, c codec[T]) (n int64, written, again []byte, merged, err error) {
	f, err := parseFrequent(b, c)
	if err != nil {
		return 0, nil, nil, nil, err
	}
	written = f.bytes(c)
	other, err := parseFrequent(written, c)
	if err != nil {
		return 0, nil, nil, nil, err
	}
	again = other.bytes(c)
	n = f.n
	if merged = f.merge(other); merged == nil {
		_, err = parseFrequent(f.bytes(c), c)
	}
	return n, written, again, merged, err
}
