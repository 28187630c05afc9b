package sketch

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// filesOf returns the files of other libraries with a pattern of names.
func filesOf(t *testing.T, pattern string, n int) map[string][]byte {
	list, err := filepath.Glob(filepath.Join("testdata", "datasketches", "*", pattern))
	require.NoError(t, err)
	require.Len(t, list, n)
	files := map[string][]byte{}
	for _, file := range list {
		files[file], err = os.ReadFile(file)
		require.NoError(t, err)
	}
	return files
}

// sketchesOfOthers calls a function with the files of other libraries, and with the number of values in their names.
func sketchesOfOthers(t *testing.T, pattern string, files int, use func(file string, b []byte, n int)) {
	for file, b := range filesOf(t, pattern, files) {
		_, name, _ := strings.Cut(filepath.Base(file), "_n")
		digits, _, _ := strings.Cut(name, "_")
		n, err := strconv.Atoi(digits)
		require.NoError(t, err)
		use(file, b, n)
	}
}

// formOf is the form of floats or doubles.
func formOf(narrow bool) valueForm[float64] {
	if narrow {
		return floats{}
	}
	return doubles{}
}

func parseDoubles(b []byte) (*kll[float64], error) { return parseKLL[float64](b, doubles{}) }

// TestKLLOfOthers reads the sketches that the libraries in C++ and Java wrote of the numbers from 1, requires the error that they
// state, and writes their bytes again. Strings have spaces before the digits; those of C++ have another order and are left out.
func TestKLLOfOthers(t *testing.T) {
	sketchesOfOthers(t, "kll_float_*.sk", 16, func(file string, b []byte, n int) { requireOthers(t, file, b, n, formOf(true)) })
	sketchesOfOthers(t, "kll_double_*.sk", 16, func(file string, b []byte, n int) { requireOthers(t, file, b, n, formOf(false)) })
	sketchesOfOthers(t, "kll_long_*.sk", 16, func(file string, b []byte, n int) { requireOthers[int64](t, file, b, n, longs{}) })
	sketchesOfOthers(t, "kll_string_*.sk", 8, func(file string, b []byte, n int) { requireOthers[string](t, file, b, n, texts{}) })
}

func requireOthers[T cmp.Ordered](t *testing.T, file string, b []byte, n int, form valueForm[T]) {
	s, err := parseKLL(b, valueForm[T](form.sized(0, 1)))
	require.NoError(t, err, file)
	require.Equal(t, int64(n), s.n, file)
	require.Equal(t, 200, s.k, file)
	if n > 0 {
		require.Equal(t, form, s.form, file)
		const queries = 100
		for i := range queries + 1 {
			q := float64(i) / queries
			v := s.quantile(q)
			number, err := strconv.ParseFloat(strings.TrimSpace(fmt.Sprint(v)), 64)
			require.NoError(t, err, file)
			require.InDelta(t, q, number/float64(n), errorOfK(200)+1/float64(n), file)
			require.InDelta(t, number/float64(n), s.rank(v), errorOfK(200), file)
		}
	}
	b[flagsPos] &^= kllFlagSorted
	require.Equal(t, b, s.bytes(), file)
}

// TestKLLFormat reads what is written, also in the updatable form, and refuses parts of it.
func TestKLLFormat(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, k := range []int{8, 50, 200} {
		for _, n := range []int{0, 1, 2, 50, 3000, 40_000} {
			for _, narrow := range []bool{false, true} {
				s := newKLL(k, formOf(narrow))
				for range n {
					s.add(float64(float32(r.NormFloat64())))
				}
				b := s.bytes()
				for _, form := range [][]byte{b, updatable(s)} {
					read, err := parseDoubles(form)
					require.NoError(t, err)
					require.Equal(t, b, read.bytes())
					for cut := atSingle; cut < len(form); cut++ {
						if half, err := parseDoubles(form[:cut]); narrow || err != nil || half.form != formOf(true) { // half of doubles may be floats
							require.ErrorIs(t, err, errKLL, "%d of %d bytes", cut, len(form))
						}
					}
				}
			}
		}
	}
}

// TestKLLKinds writes, cuts, reads and merges sketches of strings and of longs, and compares their quantiles with those of numbers.
func TestKLLKinds(t *testing.T) {
	for _, n := range []int{0, 1, 2, 50, 20_000} {
		words, integers, numbers := newKLL[string](50, texts{}), newKLL[int64](50, longs{}), newKLL[float64](50, doubles{})
		for i := range n {
			v := i * 7919 % 20_011
			words.add(fmt.Sprintf("%06d", v))
			integers.add(int64(v))
			numbers.add(float64(v))
		}
		requireKind[string](t, words, texts{})
		requireKind[int64](t, integers, longs{})
		if n == 0 {
			continue
		}
		whole := wholeBelow(numbers.quantile(0.3))
		require.InDelta(t, numbers.rank(5000), integers.rank(5000), errorOfK(50)*2)
		require.InDelta(t, whole, integers.quantile(0.3), 20_011*errorOfK(50)*2)
		text, err := strconv.Atoi(words.quantile(0.3))
		require.NoError(t, err)
		require.InDelta(t, whole, text, 20_011*errorOfK(50)*2)
	}
}

func requireKind[T cmp.Ordered](t *testing.T, s *kll[T], form valueForm[T]) {
	b := s.bytes()
	read, err := parseKLL(b, form)
	require.NoError(t, err)
	require.Equal(t, b, read.bytes())
	for cut := range len(b) {
		_, err := parseKLL(b[:cut], form)
		require.ErrorIs(t, err, errKLL, "%d of %d bytes", cut, len(b))
	}
	n, err := countOfKLL(b)
	require.NoError(t, err)
	require.Equal(t, s.n, n)
	require.NoError(t, read.merge(s))
	require.Equal(t, 2*s.n, read.n)
	require.LessOrEqual(t, read.retained(), read.places())
}

// TestWholeBelow tests the limits of int64.
func TestWholeBelow(t *testing.T) {
	for value, want := range map[float64]int64{1.5: 1, -1.5: -2, 1e300: math.MaxInt64, -1e300: math.MinInt64, math.Inf(-1): math.MinInt64, math.Inf(1): math.MaxInt64} {
		require.Equal(t, want, wholeBelow(value), "%v", value)
	}
	require.Equal(t, int64(math.MaxInt64), wholeBelow(math.NaN()))
}

// updatable writes the updatable form: with the end of the last level, and with free places before the values.
func updatable(s *kll[float64]) []byte {
	b := s.bytes()
	if s.n < 2 {
		return b
	}
	b[atVersion] = kllUpdatable
	levels := atOffsets + 4*len(s.levels)
	values := levels + 2*len(s.form.write(nil, 0))
	end := binary.LittleEndian.AppendUint32(nil, uint32(s.places()))
	return slices.Concat(b[:levels], end, b[levels:values], make([]byte, s.room*len(s.form.write(nil, 0))), b[values:])
}

// TestMergedWidths requires doubles of a sketch of floats and one of doubles, and floats of two of floats.
func TestMergedWidths(t *testing.T) {
	for _, narrow := range []bool{false, true} {
		s, other := newKLL(20, formOf(true)), newKLL(20, formOf(narrow))
		s.add(0.5)
		other.add(1.5)
		require.NoError(t, s.merge(other))
		require.Equal(t, formOf(narrow), s.form)
		read, err := parseDoubles(s.bytes())
		require.NoError(t, err)
		require.Equal(t, formOf(narrow), read.form)
		require.Equal(t, [][]float64{{0.5, 1.5}}, read.levels)
	}
}

// impossibleKLL have the form of sketches and impossible contents.
func impossibleKLL() map[string][]byte {
	numbers := distributions["ascending"](nil, 60)
	valid := kllOfNumbers(8, numbers...).bytes()
	changed := func(at int, bytes ...byte) []byte {
		b := slices.Clone(valid)
		copy(b[at:], bytes)
		return b
	}
	levels := int(valid[atLevels])
	least := atOffsets + 4*levels
	unsorted := kllOfNumbers(8, numbers...)
	slices.Reverse(unsorted.levels[len(unsorted.levels)-1])
	single := kllOfNumbers(8, 1).bytes()
	binary.LittleEndian.PutUint64(single[atSingle:], math.Float64bits(math.NaN()))
	nan := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))
	return map[string][]byte{
		"nothing": nil, "short": valid[:7], "longer": append(slices.Clone(valid), 0), "family": changed(atFamily, 7), "version": changed(atVersion, 4),
		"k": changed(atK, 3, 0), "odd m": changed(atWidth, 7), "m of 0": changed(atWidth, 0), "great m": changed(atWidth, 10),
		"values": changed(atValues, 59), "no values": changed(atValues, 0), "many values": changed(atValues, 255, 255, 255, 255, 255, 255, 255, 255),
		"least k": changed(atLeastK, 9), "least k of 0": changed(atLeastK, 0), "no levels": changed(atLevels, 0), "many levels": changed(atLevels, 61),
		"other levels": changed(atLevels, byte(levels-1)), "offset": changed(atOffsets, 255, 255, 255, 255), "offsets": changed(atOffsets, 60),
		"least value": changed(least, nan...), "greatest value": changed(least+8, make([]byte, 8)...), "a value": changed(len(valid)-8, nan...),
		"order": unsorted.bytes(), "single": single, "of 3 bytes": single[:atSingle+3],
	}
}

// TestImpossibleKLL refuses impossible sketches, and allocates nothing for values that are missing.
func TestImpossibleKLL(t *testing.T) {
	for name, b := range impossibleKLL() {
		_, err := parseDoubles(b)
		require.ErrorIs(t, err, errKLL, name)
	}
	short := slices.Concat([]byte{5, kllFull, kllFamily, 0, 255, 255, 8, 0}, make([]byte, 12+4*30))
	short[atValues+3], short[atLevels] = 1, 30
	binary.LittleEndian.PutUint16(short[atLeastK:], MostKLL)
	_, err := parseDoubles(short)
	require.ErrorContains(t, err, "bytes of values")
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() { _, _ = parseDoubles(short) }), 16.0)
}

// FuzzParseKLL requires that bytes of any contents are an error or a sketch that can be written, merged and read.
func FuzzParseKLL(f *testing.F) {
	for _, n := range []int{0, 1, 2, 100, 1000} {
		s := kllOfNumbers(8+n%30, distributions["periodic"](nil, n)...)
		f.Add(s.bytes())
		f.Add(updatable(s))
	}
	for _, b := range impossibleKLL() {
		f.Add(b)
	}
	words, numbers := newKLL[string](8, texts{}), newKLL[int64](8, longs{})
	for i := range 100 {
		words.add(strings.Repeat("x", i*7%10))
		numbers.add(int64(i * 7 % 10))
	}
	f.Add(words.bytes())
	f.Add(numbers.bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		requireParsed[float64](t, b, doubles{})
		requireParsed[int64](t, b, longs{})
		requireParsed[string](t, b, texts{})
	})
}

// requireParsed requires that bytes are an error or a sketch that can be written, merged and read.
func requireParsed[T cmp.Ordered](t *testing.T, b []byte, form valueForm[T]) {
	s, err := parseKLL(b, form)
	if err != nil {
		require.ErrorIs(t, err, errKLL)
		return
	}
	again, err := parseKLL(s.bytes(), form)
	require.NoError(t, err)
	require.Equal(t, s.bytes(), again.bytes())
	n, err := countOfKLL(b)
	require.NoError(t, err)
	if s.n == 0 {
		return
	}
	require.Positive(t, n)
	median := s.quantile(0.5)
	require.True(t, median >= s.min && median <= s.max)
	require.GreaterOrEqual(t, s.rank(median), 0.0)
	if err := s.merge(again); err != nil {
		require.ErrorIs(t, err, errTooMany)
		return
	}
	_, err = parseKLL(s.bytes(), form)
	require.NoError(t, err)
}
