package gpuframe_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// The day of a zone begins at another instant than that of UTC, also when its clock is
// changed.
func TestTimeZones(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		day := gpuframe.Col("id").Mul(3600).Add(1743199200).Cast(&arrow.TimestampType{Unit: arrow.Second}).As("day") // 2025-03-28 22:00:00 UTC
		q := e.Records(nil, counting(t, 50)).With(day)
		const oslo = "Europe/Oslo"
		local := gpuframe.Col("day").LocalTime(oslo)
		require.Equal(t, []string{
			"2025-03-28 00:00:00+0100 1", "2025-03-29 00:00:00+0100 24", "2025-03-30 00:00:00+0100 23", "2025-03-31 00:00:00+0200 2",
		}, collect(t, q.GroupBy(local.Truncate("day").InstantIn(oslo).As("day")).Agg(gpuframe.Count().As("n")).Sort(gpuframe.Col("day"))))
	})
}
