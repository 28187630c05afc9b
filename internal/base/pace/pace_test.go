package pace

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPace(t *testing.T) {
	for _, test := range []struct {
		rows, ofRows int64
		elapsed      time.Duration
		want         string
		left         time.Duration
	}{
		{1200, 5000, 2 * time.Second, "1,200 of 5,000 rows (24 %), 600 a second, 6s left", 6333333333},
		{1200, -1, 2 * time.Second, "1,200 rows, 600 a second", -1},
		{0, 5000, time.Second, "0 of 5,000 rows (0 %), 0 a second", -1},
		{5000, 5000, time.Second, "5,000 of 5,000 rows (100 %), 5,000 a second, 0s left", 0},
		{6000, 5000, time.Second, "6,000 of 5,000 rows, 6,000 a second", -1},
		{7, 10, 0, "7 of 10 rows (70 %), 0 a second", -1},
		{1, math.MaxInt64, time.Hour, "1 of 9,223,372,036,854,775,807 rows (0 %), 0 a second", -1},
		{math.MaxInt64, math.MaxInt64, 4 * time.Second, "9,223,372,036,854,775,807 of 9,223,372,036,854,775,807 rows (100 %), 2,305,843,009,213,693,952 a second, 0s left", 0},
		{600, 240_000, time.Second, "600 of 240,000 rows (0 %), 600 a second, 6m39s left", 399 * time.Second},
	} {
		p := Of(test.rows, test.ofRows, test.elapsed)
		require.Equal(t, test.want, p.String())
		require.InDelta(t, test.left, p.Left, 10)
	}
}
