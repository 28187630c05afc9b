package hashtable

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// oracle returns the numbers of groups by a map.
func oracle[K comparable](keys []K) (numbers []uint32, firsts []uint32) {
	known := map[K]uint32{}
	for row, key := range keys {
		number, ok := known[key]
		if !ok {
			number = uint32(len(known))
			known[key], firsts = number, append(firsts, uint32(row))
		}
		numbers = append(numbers, number)
	}
	return numbers, firsts
}

// groupsOf finds the groups of keys.
func groupsOf(t *testing.T, k hostKeys, n int) (numbers []uint32, firsts []uint32) {
	t.Helper()
	f := finder{hostKeys: k, nullKey: true, codes: make([]uint32, n), marks: make([]byte, (n+31)/32*4), seeds: newSeeds()}
	require.NoError(t, f.find(t.Context(), n))
	for row := range n {
		if f.marks[row/8]>>(row%8)&1 != 0 {
			firsts = append(firsts, uint32(row))
		}
	}
	return f.codes, firsts
}

// TestHostFindsGroups finds groups of few and of many different keys, in short and in long ranges.
func TestHostFindsGroups(t *testing.T) {
	for _, n := range []int{0, 1, 63, 1000, fewestPartitioned, 5*fewestPartitioned + 7} {
		for _, distinct := range []uint64{1, 3, 5000, 1 << 17, 1 << 40} {
			for _, factor := range []uint64{1, 0x9e3779b97f4a7c15} {
				values := make([]uint64, n)
				for i := range values {
					values[i] = rand.Uint64N(distinct) * factor
				}
				k := integerKeys(values)
				k.last = math.MaxUint64
				numbers, firsts := groupsOf(t, k, n)
				wantNumbers, wantFirsts := oracle(values)
				require.Equal(t, wantFirsts, firsts, "%d rows, %d keys", n, distinct)
				require.Equal(t, append([]uint32{}, wantNumbers...), numbers)
			}
		}
	}
}

// TestHostFindsManyGroupsOfOnePartition fills a table of a partition until it grows.
func TestHostFindsManyGroupsOfOnePartition(t *testing.T) {
	const n = 5 * partitionRows
	words, rows, firsts := make([]uint64, n), make([]uint32, n), make([]uint32, n)
	for i := range words {
		words[i], rows[i] = uint64(i%(n/2)), uint32(i)
	}
	var table partitionTable
	for range 2 {
		table.group(newSeeds(), words, rows, firsts)
		for i, first := range firsts {
			require.EqualValues(t, i%(n/2), first)
		}
	}
}

// TestHostComparesKeysOfEqualHashes gives all long texts a few hashes, so that only comparisons tell them apart.
func TestHostComparesKeysOfEqualHashes(t *testing.T) {
	for _, hashes := range []uint64{1, 40, 1 << 14} {
		const n = 2*fewestPartitioned + 100
		offsets, data, texts := []int32{0}, []byte(nil), make([]string, n)
		for i := range texts {
			text := []byte("a long text ")
			for number := rand.IntN(20); number > 0; number /= 3 {
				text = append(text, 'a'+byte(number%3))
			}
			data, texts[i] = append(data, text...), string(text)
			offsets = append(offsets, int32(len(data)))
		}
		k := byteKeys(offsets, data)
		k.last = math.MaxUint64
		words := k.words
		k.words = func(to []uint64, begin int) error {
			err := words(to, begin)
			for i := range to {
				to[i] = hashed | to[i]%hashes
			}
			return err
		}
		numbers, firsts := groupsOf(t, k, n)
		wantNumbers, wantFirsts := oracle(texts)
		require.Equal(t, wantFirsts, firsts, "%d hashes", hashes)
		require.Equal(t, wantNumbers, numbers)
	}
}

// TestHostFindsGroupsOfSeveralColumns compares groups of integers with nulls and texts.
func TestHostFindsGroupsOfSeveralColumns(t *testing.T) {
	for _, distinct := range []int{2, 300} {
		for _, n := range []int{100, 3*fewestPartitioned + 11} {
			valid, integers, offsets, data := make([]byte, n/8+2), make([]uint32, n), []int64{0}, []byte(nil)
			type key struct {
				valid   bool
				integer uint32
				text    string
			}
			keys := make([]key, n)
			for i := range keys {
				k := &keys[i]
				if integers[i] = uint32(rand.IntN(distinct)); rand.IntN(3) > 0 {
					k.valid, k.integer = true, integers[i]
					valid[(i+3)/8] |= 1 << ((i + 3) % 8)
				}
				k.text = "a text of several words"[:rand.IntN(20)] + string(rune('a'+rand.IntN(distinct)))
				data = append(data, k.text...)
				offsets = append(offsets, int64(len(data)))
			}
			first, second := integerKeys(integers), byteKeys(offsets, data)
			first.last, first.valid, first.bit, second.last = math.MaxUint64, valid, 3, math.MaxUint64
			for range 2 {
				k := together([]hostKeys{first, second})
				numbers, firsts := groupsOf(t, k, n)
				wantNumbers, wantFirsts := oracle(keys)
				require.Equal(t, wantFirsts, firsts)
				require.Equal(t, wantNumbers, numbers)
				words := second.words
				second.words = func(to []uint64, begin int) error { // the second time most hashes are equal
					err := words(to, begin)
					for i := range to {
						to[i] %= 2
					}
					return err
				}
			}
		}
	}
}
