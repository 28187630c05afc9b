package humanize

import (
	"math"
	"testing"

	other "github.com/dustin/go-humanize"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestAgainstGoHumanize compares with the package that this one replaces. That one
// computes with floats, so the comparison of sizes ends at 2^53.
func TestAgainstGoHumanize(t *testing.T) {
	check := func(t require.TestingT, n uint64) {
		require.Equal(t, other.Bytes(n), Bytes(n), n)
		require.Equal(t, other.IBytes(n), IBytes(n), n)
	}
	for n := range uint64(20_000) {
		check(t, n)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.Uint64Max(1<<53).Draw(t, "bytes"))
		n := rapid.Int64().Draw(t, "n")
		require.Equal(t, other.Comma(n), Comma(n))
	})
}

func TestLargest(t *testing.T) {
	require.Equal(t, "18 EB", Bytes(math.MaxUint64))
	require.Equal(t, "16 EiB", IBytes(math.MaxUint64))
	require.Equal(t, "-9,223,372,036,854,775,808", Comma(math.MinInt64))
	require.Equal(t, "-123", Comma(-123))
}
