package checks_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
)

func TestListViewsMatchTheModel(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.property(t, func(r *rapid.T) {
			width := rapid.SampledFrom([]int{4, 8}).Draw(r, "width")
			n := counts().Draw(r, "n")
			first := rapid.IntRange(0, 9).Draw(r, "first")
			limit := rapid.SampledFrom([]int64{0, 1, 2500, math.MaxInt32, 1 << 31, 1<<32 - 2, math.MaxInt64, -1}).Draw(r, "limit")
			offsets, sizes := make([]int64, n), make([]int64, n)
			seed := rapid.Int64Range(0, 1000).Draw(r, "seed")
			room := min(limit, math.MaxInt32)
			for i := range offsets {
				if room > 0 {
					offsets[i] = (int64(i)*7919 + seed) % (room + 1)
					sizes[i] = min(room-offsets[i], int64(i)%50)
				}
			}
			spoil(r, offsets, width)
			spoil(r, sizes, width)
			where := s.put(encoded(append(repeated(-1, first), offsets...), width), shifts().Draw(r, "offsets begin"))
			howMany := s.put(encoded(append(repeated(-1, first), sizes...), width), shifts().Draw(r, "sizes begin"))

			_, _, err := s.run(func(b *checks.Batch) checks.Check {
				return b.ListViews("the check", width, checks.Elements{Buffer: where, First: first, Count: n}, howMany, limit)
			})

			want, most := -1, uint64(limit)
			if limit < 0 {
				most = math.MaxInt64
			}
			for i := n - 1; i >= 0; i-- {
				if offsets[i] < 0 || sizes[i] < 0 || uint64(offsets[i])+uint64(sizes[i]) > most {
					want = first + i
				}
			}
			s.requireFound(err, want)
		})
	})
}

func TestBinaryViewsMatchTheModel(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.property(t, func(r *rapid.T) {
			n := counts().Draw(r, "n")
			first := rapid.IntRange(0, 5).Draw(r, "first")
			lengths := rapid.SliceOfN(rapid.Int64Range(0, 5000), 0, 5).Draw(r, "buffer lengths")
			words := make([]int64, 4*(first+n))
			for i := range words {
				words[i] = -1 // the parts that are not checked, and the prefixes
			}
			seed := rapid.IntRange(0, 1000).Draw(r, "seed")
			for i := range n {
				view := words[4*(first+i):]
				view[0] = int64(i+seed) % 13
				if len(lengths) > 0 && i%3 > 0 {
					buffer := (i + seed) % len(lengths)
					view[2] = int64(buffer)
					if room := lengths[buffer]; room > 12 {
						view[0] = 13 + int64(i*31)%(room-12)
						view[3] = room - view[0]
					}
				}
			}
			if n > 0 {
				for range rapid.SampledFrom([]int{0, 1, 1, 3}).Draw(r, "spoilt") {
					at := rapid.IntRange(4*first, len(words)-1).Draw(r, "which")
					words[at] = rapid.OneOf(extremes(4), rapid.Int64Range(13, 40)).Draw(r, "becomes")
				}
			}
			validity, valid := bitmap(r, s, n)
			views := s.put(encoded(words, 4), shifts().Draw(r, "shift"))

			_, _, err := s.run(func(b *checks.Batch) checks.Check {
				return b.BinaryViews("the check", checks.Elements{Buffer: views, First: first, Count: n}, validity, lengths)
			})

			want := -1
			for i := n - 1; i >= 0; i-- {
				view := words[4*(first+i):]
				length, buffer, offset := view[0], view[2], view[3]
				fine := length >= 0 && length <= 12 ||
					length > 12 && buffer >= 0 && buffer < int64(len(lengths)) && offset >= 0 && offset+length <= lengths[max(buffer, 0)]
				if !fine && valid(i) {
					want = first + i
				}
			}
			s.requireFound(err, want)
		})
	})
}

func TestViewErrors(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		views := func(words ...int64) func(b *checks.Batch) checks.Check {
			s.used = 0
			buffer := s.put(encoded(words, 4), 0)
			return func(b *checks.Batch) checks.Check {
				return b.BinaryViews("views", checks.Elements{Buffer: buffer, Count: 1}, checks.Validity{}, []int64{100, 20})
			}
		}
		lists := func(offset, size int64) func(b *checks.Batch) checks.Check {
			s.used = 0
			offsets, sizes := s.put(encoded([]int64{offset}, 4), 0), s.put(encoded([]int64{size}, 4), 0)
			return func(b *checks.Batch) checks.Check {
				return b.ListViews("lists", 4, checks.Elements{Buffer: offsets, Count: 1}, sizes, 10)
			}
		}
		for _, test := range []struct {
			add   func() func(b *checks.Batch) checks.Check
			value int64
			want  string
		}{
			{func() func(*checks.Batch) checks.Check { return views(-1, 0, 0, 0) }, -1, "views: element 0 has the length -1, below zero"},
			{func() func(*checks.Batch) checks.Check { return views(13, 0, 2, 0) }, 2, "views: element 0 lies in buffer 2 of 2"},
			{func() func(*checks.Batch) checks.Check { return views(13, 0, -1, 0) }, -1, "views: element 0 lies in buffer -1 of 2"},
			{func() func(*checks.Batch) checks.Check { return views(13, 0, 1, 8) }, 8, "views: element 0 has the offset 8 and the length 13, in a buffer of 20 bytes"},
			{func() func(*checks.Batch) checks.Check { return views(math.MaxInt32, 0, 0, math.MaxInt32) }, math.MaxInt32, "in a buffer of 100 bytes"},
			{func() func(*checks.Batch) checks.Check { return lists(-2, 0) }, -2, "lists: element 0 has the offset -2, below zero"},
			{func() func(*checks.Batch) checks.Check { return lists(0, -2) }, -2, "lists: element 0 has the size -2, below zero"},
			{func() func(*checks.Batch) checks.Check { return lists(6, 5) }, 6, "lists: element 0 has the offset 6 and the size 5, more than the 10 that there are"},
			{func() func(*checks.Batch) checks.Check { return lists(math.MaxInt32, math.MaxInt32) }, math.MaxInt32, "more than the 10"},
		} {
			_, _, err := s.run(test.add())
			var found *checks.ElementError
			require.ErrorAs(t, err, &found)
			assert.Equal(t, test.value, found.Value)
			assert.ErrorContains(t, err, test.want)
		}
	})
}
