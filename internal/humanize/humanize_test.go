package humanize_test

import (
	"math"
	"math/rand/v2"
	"testing"

	reference "github.com/dustin/go-humanize"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/humanize"
)

func TestLikeGoHumanize(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	numbers := []uint64{0, 9, 10, 11, 99, 999, 1000, 1001, 1023, 1024, 1025, 9949, 9950, 9999, 10_000, 995_000, 999_499, 999_500, 1 << 20, 1<<20 - 1, 10 << 20, 1 << 40, math.MaxInt64, math.MaxUint64}
	for range 20_000 {
		numbers = append(numbers, random.Uint64()>>random.UintN(64))
	}
	for _, n := range numbers {
		require.Equal(t, reference.Bytes(n), humanize.Bytes(n), "%d", n)
		require.Equal(t, reference.IBytes(n), humanize.IBytes(n), "%d", n)
		require.Equal(t, reference.Comma(int64(n)), humanize.Comma(int64(n)))
		require.Equal(t, reference.Comma(-int64(n>>1)), humanize.Comma(-int64(n>>1)))
	}
}
