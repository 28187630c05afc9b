package checks_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
)

func TestValidMatchesTheModel(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.property(t, func(r *rapid.T) {
			n := counts().Draw(r, "n")
			validity, valid := bitmap(r, s, n)
			set := 0
			for i := range n {
				if valid(i) {
					set++
				}
			}
			says := rapid.SampledFrom([]int64{-1, int64(n - set), int64(n-set) + 1, 0}).Draw(r, "says")

			results, c, err := s.run(func(b *checks.Batch) checks.Check { return b.Valid("the check", validity, n, says) })

			if says < 0 || says == int64(n-set) {
				require.NoError(r, err)
				require.EqualValues(r, set, results.Valid(c))
				return
			}
			require.ErrorIs(r, err, checks.ErrOutOfRange)
			var found *checks.ElementError
			require.ErrorAs(r, err, &found)
			require.EqualValues(r, n-set, found.Value)
			require.ErrorContains(r, err, "elements are null, not the")
		})
	})
}
