package sketch

import (
	"encoding/csv"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// answeredSketches are the sketches of testdata/datasketches/answers.csv, by their names.
func answeredSketches() map[string][]byte {
	list := map[string][]byte{}
	for _, k := range []int{8, 200, 1000} {
		for _, n := range []int{1, 2, 300, 100_000} {
			whole, merged := newKLL[float64](k, doubles{}), newKLL[float64](k, doubles{})
			for i := range n {
				v := float64(i * 7919 % 100_003)
				whole.add(v)
				if merged.add(v); i == n/2 {
					part := merged
					merged = newKLL[float64](k, doubles{})
					_ = merged.merge(part)
				}
			}
			list[fmt.Sprintf("kll %d %d", k, n)], list[fmt.Sprintf("merged kll %d %d", k, n)] = whole.bytes(), merged.bytes()
		}
	}
	for _, lg := range []int{3, 6} {
		for _, n := range []int{1, 100, 50_000} {
			numbers, words := newFrequent[int64](lg), newFrequent[string](lg)
			for i := range n {
				item := int64(i * 7919 % 1009 * (i % 5) * (i % 3))
				numbers.add(item, 1)
				words.add(strconv.FormatInt(item, 2), 1)
			}
			list[fmt.Sprintf("longs %d %d", lg, n)], list[fmt.Sprintf("items %d %d", lg, n)] = numbers.bytes(longs{}), words.bytes(texts{})
		}
	}
	return list
}

// TestAnswersOfDataSketches compares quantiles, ranks and bounds with those that the library of DataSketches in Go computed from the
// bytes that this package wrote.
func TestAnswersOfDataSketches(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "datasketches", "answers.csv"))
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(b))).ReadAll()
	require.NoError(t, err)
	sketches := answeredSketches()
	answers := map[string]int{}
	for _, row := range rows {
		name, bytes := row[0], sketches[row[0]]
		require.Equal(t, row[1], fmt.Sprintf("%08x", crc32.ChecksumIEEE(bytes)), name)
		require.Equal(t, row[4], answer(t, bytes, row[2], row[3]), "%v", row)
		answers[name]++
	}
	require.Len(t, answers, len(sketches))
}

// answer is a value of a sketch: a quantile, a rank, the number of all values, or the bounds of an item.
func answer(t *testing.T, b []byte, question, about string) string {
	switch question {
	case "longs":
		f, err := parseFrequent(b, longs{})
		require.NoError(t, err)
		item, err := strconv.ParseInt(about, 10, 64)
		require.NoError(t, err)
		return boundsOf(f, item)
	case "items":
		f, err := parseFrequent(b, texts{})
		require.NoError(t, err)
		return boundsOf(f, about)
	}
	s, err := parseDoubles(b)
	require.NoError(t, err)
	number, err := strconv.ParseFloat(about, 64)
	require.NoError(t, err)
	switch question {
	case "quantile":
		return fmt.Sprint(s.quantile(number))
	case "rank":
		return fmt.Sprint(s.rank(number))
	}
	return fmt.Sprint(s.n)
}

func boundsOf[T int64 | string](f *frequent[T], item T) string {
	lower := f.counts[item]
	return fmt.Sprint(lower, lower+f.offset, f.n)
}
