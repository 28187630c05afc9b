package gpuframe_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// TestDurationTotals compares the totals with package time, and moves a timestamp by durations
// that were read.
func TestDurationTotals(t *testing.T) {
	type row struct {
		Text string    `gpuframe:"text"`
		At   time.Time `gpuframe:"at"`
	}
	r := rand.New(rand.NewPCG(51, 52))
	rows, durations := make([]row, 40), make([]time.Duration, 40)
	for i := range rows {
		durations[i] = time.Duration((r.Int64() - 1<<62) >> r.IntN(60))
		rows[i] = row{durations[i].String(), time.Unix(r.Int64N(1e9), 0).UTC()}
	}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q := gpuframe.From(e, rows)
		d := gpuframe.Col("text").ParseDuration("go", arrow.FixedWidthTypes.Duration_ns)
		totaled := q.Select(d.TotalDays().As("days"), d.TotalHours().As("hours"), d.TotalMinutes().As("minutes"), d.TotalSeconds().As("seconds"),
			d.TotalMilliseconds().As("milliseconds"), d.TotalMicroseconds().As("microseconds"), d.TotalNanoseconds().As("nanoseconds"),
			gpuframe.Col("at").Cast(arrow.FixedWidthTypes.Timestamp_us).Add(d.TotalSeconds().Cast(arrow.FixedWidthTypes.Duration_s)).
				Sub(gpuframe.Col("at").Cast(arrow.FixedWidthTypes.Timestamp_us)).TotalSeconds().As("moved"))
		type totals struct {
			Days         int64 `gpuframe:"days"`
			Hours        int64 `gpuframe:"hours"`
			Minutes      int64 `gpuframe:"minutes"`
			Seconds      int64 `gpuframe:"seconds"`
			Milliseconds int64 `gpuframe:"milliseconds"`
			Microseconds int64 `gpuframe:"microseconds"`
			Nanoseconds  int64 `gpuframe:"nanoseconds"`
			Moved        int64 `gpuframe:"moved"`
		}
		i := 0
		for got, err := range gpuframe.Rows[totals](t.Context(), totaled) {
			require.NoError(t, err)
			d := durations[i]
			second := int64(d / time.Second)
			require.Equal(t, totals{int64(d / (24 * time.Hour)), int64(d / time.Hour), int64(d / time.Minute), second,
				d.Milliseconds(), d.Microseconds(), d.Nanoseconds(), second}, got, "%v", d)
			i++
		}
		require.Len(t, rows, i)
	})
}
