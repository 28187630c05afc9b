package checks_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
)

// beyond is the model: whether the low bytes of v are not an index of a dictionary of
// limit elements.
func beyond(v int64, of checks.Integer, limit int64) bool {
	shift := 64 - 8*of.Width
	if of.Signed {
		v = v << shift >> shift
		return v < 0 || v >= limit
	}
	return uint64(v)<<shift>>shift >= uint64(limit)
}

func TestIndicesMatchTheModel(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.property(t, func(r *rapid.T) {
			of := checks.Integer{Width: rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(r, "width"), Signed: rapid.Bool().Draw(r, "signed")}
			n := counts().Draw(r, "n")
			first := rapid.IntRange(0, 20).Draw(r, "first")
			limit := rapid.SampledFrom([]int64{0, 1, 100, 127, 128, 129, 255, 256, 257, 32768, 65535, 65536, 1 << 31, 1<<32 - 1, 1 << 32, math.MaxInt64}).Draw(r, "limit")
			validity, valid := bitmap(r, s, n)
			values := make([]int64, first+n)
			seed := rapid.Int64Range(0, 1000).Draw(r, "seed")
			for i := range values {
				switch {
				case i < first || !valid(i-first) && i%2 == 0:
					values[i] = -1 - int64(i)
				case limit > 0:
					values[i] = (int64(i)*7919 + seed) % min(limit, 1<<(8*of.Width-1))
				}
			}
			spoil(r, values[first:], of.Width)
			indices := s.put(encoded(values, of.Width), shifts().Draw(r, "shift"))

			_, _, err := s.run(func(b *checks.Batch) checks.Check {
				return b.Indices("the check", of, checks.Elements{Buffer: indices, First: first, Count: n}, validity, limit)
			})

			want := -1
			for i := len(values) - 1; i >= first; i-- {
				if valid(i-first) && beyond(values[i], of, limit) {
					want = i
				}
			}
			s.requireFound(err, want)
		})
	})
}

func TestUnionsMatchTheModel(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.property(t, func(r *rapid.T) {
			n := counts().Draw(r, "n")
			first := rapid.IntRange(0, 20).Draw(r, "first")
			allowed := rapid.SliceOfN(rapid.OneOf(rapid.Int8Range(0, 127), rapid.Int8Range(60, 70)), 1, 9).Draw(r, "type ids")
			lengths := make([]int64, 128)
			for id := range lengths {
				lengths[id] = -1
			}
			for _, id := range allowed {
				lengths[id] = rapid.SampledFrom([]int64{0, 1, 500, math.MaxInt64}).Draw(r, "length")
			}
			ids, offsets := make([]int64, first+n), make([]int64, first+n)
			for i := range ids {
				id := allowed[i%len(allowed)]
				ids[i] = int64(id)
				if i < first {
					ids[i], offsets[i] = -1, -1
				} else if lengths[id] > 0 {
					offsets[i] = int64(i) % min(lengths[id], 400)
				}
			}
			spoil(r, ids[first:], 1)
			spoil(r, offsets[first:], 4)
			idBuffer := s.put(encoded(ids, 1), shifts().Draw(r, "ids begin"))
			offsetBuffer := s.put(encoded(offsets, 4), shifts().Draw(r, "offsets begin"))

			wantID, wantOffset := -1, -1
			for i := len(ids) - 1; i >= first; i-- {
				id := int8(ids[i])
				if id < 0 || lengths[id] < 0 {
					wantID, wantOffset = i, i
				} else if offsets[i] < 0 || offsets[i] >= lengths[id] {
					wantOffset = i
				}
			}
			_, _, err := s.run(func(b *checks.Batch) checks.Check {
				return b.TypeIDs("the check", checks.Elements{Buffer: idBuffer, First: first, Count: n}, checks.NewTypeIDs(allowed...))
			})
			s.requireFound(err, wantID)
			for len(lengths) > 0 && lengths[len(lengths)-1] < 0 {
				lengths = lengths[:len(lengths)-1]
			}
			_, _, err = s.run(func(b *checks.Batch) checks.Check {
				return b.DenseOffsets("the check", idBuffer, checks.Elements{Buffer: offsetBuffer, First: first, Count: n}, lengths)
			})
			s.requireFound(err, wantOffset)
		})
	})
}

func TestTypeIDSets(t *testing.T) {
	set := checks.NewTypeIDs[int8](-1, 0, 63, 64, 127)
	for id := range 256 {
		assert.Equal(t, id == 0 || id == 63 || id == 64 || id == 127, set.Has(int8(id)), "%d", int8(id))
	}
	assert.False(t, checks.TypeIDs{}.Has(0))
}

func TestIndexErrors(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		of := func(width int, signed bool) checks.Integer { return checks.Integer{Width: width, Signed: signed} }
		for _, test := range []struct {
			of    checks.Integer
			index int64
			value int64
			want  string
		}{
			{of(1, true), -1, -1, "dictionary: element 1 is -1, below zero"},
			{of(1, false), -1, 255, "dictionary: element 1 is 255, in a dictionary of 10 elements"},
			{of(4, false), -1, math.MaxUint32, "dictionary: element 1 is 4294967295, in a dictionary"},
			{of(8, false), -1, math.MaxInt64, "dictionary: element 1 is 18446744073709551615, in a dictionary"},
			{of(8, true), 10, 10, "dictionary: element 1 is 10, in a dictionary of 10 elements"},
		} {
			s.used = 0
			buffer := s.put(encoded([]int64{9, test.index}, test.of.Width), 0)
			_, _, err := s.run(func(b *checks.Batch) checks.Check {
				return b.Indices("dictionary", test.of, checks.Elements{Buffer: buffer, Count: 2}, checks.Validity{}, 10)
			})
			var found *checks.ElementError
			require.ErrorAs(t, err, &found)
			assert.Equal(t, test.value, found.Value)
			assert.ErrorContains(t, err, test.want)
		}
		s.used = 0
		ids, offsets := s.put([]byte{3, 5}, 0), s.put(encoded([]int64{1, 2}, 4), 0)
		elements := checks.Elements{Buffer: offsets, Count: 2}
		for want, add := range map[string]func(b *checks.Batch) checks.Check{
			"union: element 0 is 3, which is no type id of the union": func(b *checks.Batch) checks.Check {
				return b.TypeIDs("union", checks.Elements{Buffer: ids, Count: 2}, checks.NewTypeIDs[int8](5))
			},
			"union: element 0 has the type id 3, which is none of the union": func(b *checks.Batch) checks.Check {
				return b.DenseOffsets("union", ids, elements, []int64{1, 1, 1})
			},
			"union: element 1 is 2, in the child of type id 5, which has 2 elements": func(b *checks.Batch) checks.Check {
				return b.DenseOffsets("union", ids, elements, []int64{3: 2, 4: -1, 5: 2})
			},
		} {
			_, _, err := s.run(add)
			require.ErrorIs(t, err, checks.ErrOutOfRange)
			assert.ErrorContains(t, err, want)
		}
	})
}
