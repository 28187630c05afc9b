package checks_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
)

// firstDisorder is the model: the first of values that is below zero, less than the one
// before it (or not above it, if strict), or more than limit.
func firstDisorder(values []int64, limit int64, strict bool) int {
	before := int64(0)
	for i, value := range values {
		switch {
		case value < before, strict && value == before, limit >= 0 && value > limit:
			return i
		}
		before = value
	}
	return -1
}

// ascendingValues draws n ascending numbers of a width.
func ascendingValues(r *rapid.T, n, width int, strict bool) []int64 {
	values := make([]int64, n)
	most := int64(1)<<(8*width-1) - 1
	step := min(rapid.SampledFrom([]int64{1, 3, 1000, math.MaxInt64 / 10_000}).Draw(r, "step"), most/int64(n+1))
	seed := rapid.Uint64().Draw(r, "seed")
	at := int64(0)
	for i := range values {
		seed = seed*6364136223846793005 + 1442695040888963407
		by := int64(seed>>33) % (step + 1)
		if strict && by == 0 {
			by = 1
		}
		if at += by; at > most {
			at = most
		}
		values[i] = at
	}
	return values
}

func spoil(r *rapid.T, values []int64, width int) {
	if len(values) == 0 {
		return
	}
	for range rapid.SampledFrom([]int{0, 1, 1, 2, 5}).Draw(r, "spoilt") {
		at := rapid.IntRange(0, len(values)-1).Draw(r, "which")
		values[at] = extremes(width).Draw(r, "becomes")
	}
}

func TestOffsetsMatchTheModel(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.property(t, func(r *rapid.T) {
			width := rapid.SampledFrom([]int{4, 8}).Draw(r, "width")
			n := counts().Draw(r, "n")
			first := rapid.IntRange(0, 9).Draw(r, "first")
			values := ascendingValues(r, n+1, width, false)
			good := values[n]
			spoil(r, values, width)
			limit := rapid.SampledFrom([]int64{-1, good, good, good + 1, good / 2, 0}).Draw(r, "limit")
			// Values outside the checked range are invalid.
			all := append(append(make([]int64, 0, first+n+2), repeated(-7, first)...), append(values, -9)...)
			offsets := s.put(encoded(all, width), shifts().Draw(r, "shift"))

			results, c, err := s.run(func(b *checks.Batch) checks.Check {
				return b.Offsets("the check", width, checks.Elements{Buffer: offsets, First: first, Count: n}, limit)
			})

			want := -1
			if n > 0 {
				want = firstDisorder(values, limit, false)
			}
			if want >= 0 {
				want += first
			}
			s.requireFound(err, want)
			if want < 0 && n > 0 {
				require.Equal(r, values[0], results.First(c))
				require.Equal(r, values[n], results.Last(c))
			}
		})
	})
}

func repeated(value int64, n int) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = value
	}
	return values
}

func TestRunEndsMatchTheModel(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.property(t, func(r *rapid.T) {
			width := rapid.SampledFrom([]int{2, 4, 8}).Draw(r, "width")
			n := counts().Draw(r, "n")
			first := rapid.IntRange(0, 9).Draw(r, "first")
			values := ascendingValues(r, n, width, true)
			spoil(r, values, width)
			atLeast := int64(0)
			if n > 0 {
				atLeast = max(0, values[n-1]+rapid.SampledFrom([]int64{-1, 0, 0, 0, 1}).Draw(r, "reach"))
			}
			ends := s.put(encoded(append(repeated(0, first), values...), width), shifts().Draw(r, "shift"))

			results, c, err := s.run(func(b *checks.Batch) checks.Check {
				return b.RunEnds("the check", width, checks.Elements{Buffer: ends, First: first, Count: n}, atLeast)
			})

			want := firstDisorder(values, -1, true)
			if want < 0 && n > 0 && values[n-1] < atLeast {
				want = n - 1
			}
			if want >= 0 {
				want += first
			}
			s.requireFound(err, want)
			if want < 0 && n > 0 {
				require.Equal(r, values[0], results.First(c))
				require.Equal(r, values[n-1], results.Last(c))
			}
		})
	})
}

// TestEveryElementIsChecked makes each element invalid, one at a time, in memory of
// every alignment to four bytes.
func TestEveryElementIsChecked(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		const n = 700 // one tile and the values around it
		for _, shift := range []int{0, 4, 12, 1} {
			values := make([]int64, n+1)
			for i := range values {
				values[i] = int64(i)
			}
			for at := range values {
				s.used = 0
				values[at] = 1 << 30
				offsets := s.put(encoded(values, 4), shift)
				_, _, err := s.run(func(b *checks.Batch) checks.Check {
					return b.Offsets("the check", 4, checks.Elements{Buffer: offsets, Count: n}, n)
				})
				s.requireFound(err, at)
				values[at] = int64(at)
			}
		}
	})
}

func TestDisorderErrors(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		const most = math.MaxInt32
		for _, test := range []struct {
			name   string
			values []int64
			limit  int64
			ends   bool
			want   string
		}{
			{"negative first", []int64{-3, 0}, 9, false, "the check: element 0 is -3, below zero: contents out of range"},
			{"descending", []int64{0, 9, 5}, 9, false, "the check: element 2 is 5, less than 9 before it: contents out of range"},
			{"negative later", []int64{0, -most - 1}, -1, false, "the check: element 1 is -2147483648, less than 0 before it: contents out of range"},
			{"beyond", []int64{0, 5, 50}, 49, false, "the check: element 2 is 50, more than the 49 that there are: contents out of range"},
			{"all of it", []int64{0, 5, 50}, 50, false, ""},
			{"largest", []int64{most, most}, -1, false, ""},
			{"nothing there", []int64{0, 0}, 0, false, ""},
			{"beyond nothing", []int64{0, 1}, 0, false, "the check: element 1 is 1, more than the 0 that there are: contents out of range"},
			{"run without length", []int64{0, 1}, 1, true, "the check: element 0 is 0, a run without length: contents out of range"},
			{"negative run", []int64{-1, 1}, 1, true, "the check: element 0 is -1, below zero: contents out of range"},
			{"second run without length", []int64{4, 4}, 1, true, "the check: element 1 is 4, no more than what is before it: contents out of range"},
			{"runs too short", []int64{4, 8}, 9, true, "the check: element 1 is 8, but the runs have to reach 9: contents out of range"},
			{"runs long enough", []int64{4, 8}, 8, true, ""},
			{"no runs", nil, 1, true, "the check: there are no runs, which have to reach 1: contents out of range"},
			{"no runs needed", nil, 0, true, ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				s.used = 0
				buffer := s.put(encoded(test.values, 4), 0)
				_, _, err := s.run(func(b *checks.Batch) checks.Check {
					if test.ends {
						return b.RunEnds("the check", 4, checks.Elements{Buffer: buffer, Count: len(test.values)}, test.limit)
					}
					return b.Offsets("the check", 4, checks.Elements{Buffer: buffer, Count: len(test.values) - 1}, test.limit)
				})
				if test.want == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, checks.ErrOutOfRange)
				assert.EqualError(t, err, test.want)
			})
		}
	})
}
