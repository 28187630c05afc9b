package rows_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/internal/rows"
)

func encoded(t testing.TB, numbers []uint64) []byte {
	bitmap := roaring64.BitmapOf(numbers...)
	bitmap.RunOptimize()
	var data bytes.Buffer
	_, err := bitmap.WriteTo(&data)
	require.NoError(t, err)
	return data.Bytes()
}

// Sets of several buckets, of single rows and runs, are those of the library's own type for 64 bits.
func TestParse(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var numbers []uint64
		for range random.IntN(4) {
			first := uint64(random.IntN(3))<<32 + uint64(random.IntN(1<<20))
			for i := range uint64(random.IntN(3000)) {
				numbers = append(numbers, first+i*uint64(1+random.IntN(2)))
			}
		}
		set, err := rows.Parse(encoded(t, numbers))
		require.NoError(t, err)
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		require.EqualValues(t, len(numbers), set.Len())
		first, end := random.Int64N(3<<32), random.Int64N(4<<32)
		var want []int64
		for _, number := range numbers {
			if int64(number) >= first && int64(number) < end {
				want = append(want, int64(number))
			}
		}
		require.Equal(t, want, slices.Collect(set.Between(first, end)))
		other := rows.Of(set.Between(0, 1<<40))
		other.Merge(set)
		require.Equal(t, set.Len(), other.Len())
	}
}

// Sets with the same and with other buckets are merged; the other set stays as it is.
func TestMerge(t *testing.T) {
	a, b := []int64{1, 5 << 32, 7 << 32}, []int64{2, 1 << 32, 5<<32 + 1, 9 << 32}
	set, other := rows.Of(slices.Values(a)), rows.Of(slices.Values(b))
	set.Merge(other)
	set.Merge(rows.Of(slices.Values([]int64{1<<32 + 4})))
	require.Equal(t, []int64{1, 2, 1 << 32, 1<<32 + 4, 5 << 32, 5<<32 + 1, 7 << 32, 9 << 32}, slices.Collect(set.Between(0, 1<<40)))
	require.Equal(t, b, slices.Collect(other.Between(0, 1<<40)))
}

// A list has the buckets from 0 on, with their lengths.
func TestParseList(t *testing.T) {
	bitmap := encoded(t, []uint64{3, 70000})[12:] // behind the number of buckets and the key of the only one
	empty := encoded(t, []uint64{1 << 32})[12:]
	list := binary.BigEndian.AppendUint32(nil, 2)
	for _, each := range [][]byte{empty, bitmap} {
		list = append(binary.BigEndian.AppendUint32(list, uint32(len(each))), each...)
	}
	set, err := rows.ParseList(list, binary.BigEndian)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1<<32 + 3, 1<<32 + 70000}, slices.Collect(set.Between(0, 1<<40)))
	for n := range len(list) {
		_, err := rows.ParseList(list[:n], binary.BigEndian)
		require.Error(t, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(encoded(f, nil))
	f.Add(encoded(f, []uint64{3, 4, 5, 6, 7, 70000, 1 << 33}))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := rows.Parse(data)
		if err != nil {
			return
		}
		n, last := int64(0), int64(-1)
		for row := range set.Between(0, 1<<62) {
			require.Greater(t, row, last)
			if last = row; n == 1<<16 {
				return // a run of a few bytes has many rows
			}
			n++
		}
		require.Equal(t, set.Len(), n)
	})
}
