package sketch

import (
	"encoding/binary"
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

// TestKLLOfOthers reads the sketches that the libraries in C++ and Java wrote of the numbers from 1, requires the error that they
// state, and writes their bytes again.
func TestKLLOfOthers(t *testing.T) {
	sketchesOfOthers(t, "kll_*.sk", 32, func(file string, b []byte, n int) {
		s, err := parseKLL(b)
		require.NoError(t, err, file)
		require.Equal(t, int64(n), s.n, file)
		require.Equal(t, 200, s.k, file)
		if n > 0 {
			require.Equal(t, strings.Contains(file, "float"), s.narrow, file)
			requireRanks(t, file, s, s.k, distributions["ascending"](nil, n+1)[1:])
		}
		const sorted = kllFlagSorted
		b[flagsPos] &^= sorted
		require.Equal(t, b, s.bytes(), file)
	})
}

// TestKLLFormat reads what is written, also in the updatable form, and refuses parts of it.
func TestKLLFormat(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, k := range []int{8, 50, 200} {
		for _, n := range []int{0, 1, 2, 50, 3000, 40_000} {
			for _, narrow := range []bool{false, true} {
				s := newKLL(k, narrow)
				for range n {
					s.add(float64(float32(r.NormFloat64())))
				}
				b := s.bytes()
				require.LessOrEqual(t, len(b), s.size())
				for _, form := range [][]byte{b, updatable(s)} {
					read, err := parseKLL(form)
					require.NoError(t, err)
					require.Equal(t, b, read.bytes())
					for cut := atSingle; cut < len(form); cut++ {
						if half, err := parseKLL(form[:cut]); narrow || err != nil || !half.narrow { // half of doubles may be floats
							require.ErrorIs(t, err, errKLL, "%d of %d bytes", cut, len(form))
						}
					}
				}
			}
		}
	}
}

// updatable writes the updatable form: with the end of the last level, and with free places before the values.
func updatable(s *kll) []byte {
	b := s.bytes()
	if s.n < 2 {
		return b
	}
	b[atVersion] = kllUpdatable
	levels := atOffsets + 4*len(s.levels)
	values := levels + 2*s.valueBytes()
	end := binary.LittleEndian.AppendUint32(nil, uint32(s.places()))
	return slices.Concat(b[:levels], end, b[levels:values], make([]byte, s.room*s.valueBytes()), b[values:])
}

// TestMergedWidths requires doubles of a sketch of floats and one of doubles, and floats of two of floats.
func TestMergedWidths(t *testing.T) {
	for _, narrow := range []bool{false, true} {
		s, other := newKLL(20, true), newKLL(20, narrow)
		s.add(0.5)
		other.add(1.5)
		require.NoError(t, s.merge(other))
		require.Equal(t, narrow, s.narrow)
		read, err := parseKLL(s.bytes())
		require.NoError(t, err)
		require.Equal(t, narrow, read.narrow)
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
		_, err := parseKLL(b)
		require.ErrorIs(t, err, errKLL, name)
	}
	short := slices.Concat([]byte{5, kllFull, kllFamily, 0, 255, 255, 8, 0}, make([]byte, 12+4*30))
	short[atValues+3], short[atLevels] = 1, 30
	binary.LittleEndian.PutUint16(short[atLeastK:], MostKLL)
	_, err := parseKLL(short)
	require.ErrorContains(t, err, "bytes of values")
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() { _, _ = parseKLL(short) }), 16.0)
}

// FuzzParseKLL requires that bytes of any contents are an error or a sketch that is written, merged and asked.
func FuzzParseKLL(f *testing.F) {
	for _, n := range []int{0, 1, 2, 100, 1000} {
		s := kllOfNumbers(8+n%30, distributions["periodic"](nil, n)...)
		f.Add(s.bytes())
		f.Add(updatable(s))
	}
	for _, b := range impossibleKLL() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseKLL(b)
		if err != nil {
			require.ErrorIs(t, err, errKLL)
			return
		}
		again, err := parseKLL(s.bytes())
		require.NoError(t, err)
		require.Equal(t, s.bytes(), again.bytes())
		if s.n == 0 {
			return
		}
		median := s.quantile(0.5)
		require.True(t, median >= s.min && median <= s.max)
		require.GreaterOrEqual(t, s.rank(median), 0.0)
		if err := s.merge(again); err != nil {
			require.ErrorIs(t, err, errTooMany)
			return
		}
		_, err = parseKLL(s.bytes())
		require.NoError(t, err)
	})
}
