package gpuframe_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// hoppingRow is a row of the tests of windows that overlap.
type hoppingRow struct {
	Key, At, Value int64
}

// hopping is windows that overlap, and the model of them.
type hopping struct {
	step, span, offset int64
	closed, label      string
}

func (h hopping) contains(at, begin int64) bool {
	end := begin + h.span
	low, high := at > begin, at < end
	if h.closed == "left" || h.closed == "both" {
		low = low || at == begin
	}
	if h.closed == "right" || h.closed == "both" {
		high = high || at == end
	}
	return low && high
}

// lines are the sums and the numbers of the windows of each key.
func (h hopping) lines(rows []hoppingRow, keys int64) (list []string) {
	for key := range keys {
		var windows []string
		last := 0
		for begin := h.offset - 100*h.step; begin < 200; begin += h.step {
			n, sum := 0, int64(0)
			for _, row := range rows {
				if row.Key == key && h.contains(row.At, begin) {
					n, sum = n+1, sum+row.Value
				}
			}
			if n == 0 && windows == nil {
				continue
			}
			at, total := begin, fmt.Sprint(sum)
			if h.label == "right" {
				at += h.span
			}
			if n == 0 {
				total = "(null)"
			}
			windows = append(windows, fmt.Sprintf("%d|%d|%d|%s|", key, at, n, total))
			if n > 0 {
				last = len(windows)
			}
		}
		list = append(list, windows[:last]...)
	}
	return list
}

// TestHoppingWindows compares windows that overlap or have gaps with their definition.
func TestHoppingWindows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e, random := engineOn(t, dev), property.Random(t)
		const keys = 3
		var rows []hoppingRow
		for range 60 {
			rows = append(rows, hoppingRow{random.Int64N(keys), random.Int64N(150) - 50, random.Int64N(100)})
		}
		at, value := gpuframe.Col("At"), gpuframe.Col("Value")
		for range 12 {
			h := drawHopping(random)
			q := gpuframe.From(e, rows).Resample(at, h.step, gpuframe.Col("Key")).Span(h.span).Offset(h.offset).Closed(h.closed).Label(h.label).
				Agg(gpuframe.Count().As("n"), value.Sum().As("sum"))
			require.Equal(t, h.lines(rows, keys), lines(t, q), "%+v", h)
		}
	})
}

func drawHopping(random *rand.Rand) hopping {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	return hopping{1 + random.Int64N(9), 1 + random.Int64N(30), random.Int64N(13) - 6, pick("left", "right", "both", "none"), pick("left", "right")}
}

// TestHoppingMonths has windows of three months that begin each month, and of a day that begin each hour.
func TestHoppingMonths(t *testing.T) {
	type row struct {
		At    time.Time
		Value int64
	}
	day := func(month time.Month, day, hour int) time.Time {
		return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC)
	}
	rows := []row{{day(1, 31, 5), 1}, {day(2, 28, 6), 10}, {day(5, 1, 0), 100}}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		at, value := gpuframe.Col("At"), gpuframe.Col("Value")
		q := gpuframe.From(e, rows)
		months := q.Resample(at, gpuframe.Every(1, "month")).Span(gpuframe.Every(1, "quarter")).Agg(value.Sum().As("sum")).Select(at.FormatTime("%Y-%m"), gpuframe.Col("sum"))
		require.Equal(t, []string{"2025-11|1|", "2025-12|11|", "2026-01|11|", "2026-02|10|", "2026-03|100|", "2026-04|100|", "2026-05|100|"}, lines(t, months))
		hours := q.Resample(at, 12*time.Hour).Span(24 * time.Hour).Offset(-time.Hour).Agg(gpuframe.Count().As("n")).Filter(gpuframe.Col("n").Gt(0)).Select(at.FormatTime("%m-%d %H"))
		require.Equal(t, []string{"01-30 11|", "01-30 23|", "02-27 11|", "02-27 23|", "04-30 11|", "04-30 23|"}, lines(t, hours))
		for _, bad := range []gpuframe.Resampled{
			q.Resample(at, time.Hour).Span("day"), q.Resample(at, time.Hour).Closed("up"), q.Resample(at, time.Hour).Label("up"), q.Resample(at, gpuframe.Every(1, "month")).Span(time.Hour),
			q.Resample(at, gpuframe.Every(1, "month")).Span(gpuframe.Every(31, "day")), q.Resample(at, time.Second).Span(200 * time.Hour),
		} {
			_, err := bad.Agg(gpuframe.Count()).Schema(t.Context())
			require.ErrorIs(t, err, device.ErrInvalidValue)
		}
	})
}

// TestPairsInFrames compares covariances and correlations in frames with those of groups of the same rows.
func TestPairsInFrames(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		random := property.Random(t)
		var rows []hoppingRow
		for i := range 40 {
			rows = append(rows, hoppingRow{0, int64(i), random.Int64N(100)})
		}
		at, value := gpuframe.Col("At"), gpuframe.Col("Value")
		window := gpuframe.By(gpuframe.Col("Key")).OrderBy(at).Rows(-5, 0)
		square := at.Mul(at).FloorMod(17)
		frames := gpuframe.From(e, rows).With(gpuframe.Correlation(value, square).Over(window).As("r"), gpuframe.Covariance(value, square).Over(window).As("c"),
			value.LagOr(2, -1).Over(window).As("before"), value.LeadOr(3, -2).Over(window).As("after")).Filter(at.Eq(20)).Drop("Key")
		groups := gpuframe.From(e, rows).Filter(at.Ge(15), at.Le(20)).Select(gpuframe.Correlation(value, square).As("r"), gpuframe.Covariance(value, square).As("c"))
		got, want := frames.Join(groups, gpuframe.Cross), gpuframe.Col("r")
		differs := want.Sub(gpuframe.Col("r_right")).Abs().Lt(1e-9).And(gpuframe.Col("c").Sub(gpuframe.Col("c_right")).Abs().Lt(1e-6))
		require.Equal(t, []string{"true|"}, lines(t, got.Select(differs)))
		shifted := gpuframe.From(e, rows).With(value.LagOr(2, -1).Over(window).As("before"), value.LeadOr(3, -2).Over(window).As("after"))
		require.Equal(t, []string{"-1|", "-1|", fmt.Sprint(rows[0].Value, "|")}, lines(t, shifted.Head(3).Select(gpuframe.Col("before"))))
		require.Equal(t, []string{fmt.Sprint(rows[39].Value, "|"), "-2|", "-2|", "-2|"}, lines(t, shifted.Tail(4).Select(gpuframe.Col("after"))))
	})
}

// Pairs of very different sizes have the correlations in frames that they have of the same rows without one.
func TestPairsOfDifferentSizesInFrames(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		random := property.Random(t)
		var rows []hoppingRow
		for i := range 40 {
			rows = append(rows, hoppingRow{0, int64(i), random.Int64N(100)})
		}
		at, value := gpuframe.Col("At"), gpuframe.Col("Value")
		float := gpuframe.Col("Value").Cast(arrow.PrimitiveTypes.Float64)
		time := at.Mul(int64(60_000_000_000)).Add(int64(1_700_000_000_000_000_000))
		window := gpuframe.By(gpuframe.Col("Key")).OrderBy(at).Rows(-5, 0)
		for name, pair := range map[string][2]gpuframe.Expr{
			"time": {time, value.FloorMod(7)}, "small": {at.Cast(arrow.PrimitiveTypes.Float64).Div(60), float.Mul(1e-9)}, "large": {float.Mul(1e9), at.Cast(arrow.PrimitiveTypes.Float64).Mul(1e-9)},
			"linear": {value, value.Mul(1_000_000_007).Add(1)}, "constant": {at.Mul(0).Add(3), value},
		} {
			pairs := func(q gpuframe.Query, over func(e gpuframe.Expr) gpuframe.Expr) gpuframe.Query {
				return q.With(over(gpuframe.Correlation(pair[0], pair[1])).FillNull(math.NaN()).As("r"), over(gpuframe.Covariance(pair[0], pair[1])).As("c"))
			}
			frames := pairs(gpuframe.From(e, rows), func(e gpuframe.Expr) gpuframe.Expr { return e.Over(window) }).Filter(at.Eq(20)).Drop("Key", "At", "Value")
			groups := pairs(gpuframe.From(e, rows).Filter(at.Ge(15), at.Le(20)), func(e gpuframe.Expr) gpuframe.Expr { return e.Over(gpuframe.By()) }).Filter(at.Eq(20)).Drop("Key", "At", "Value")
			near := func(column string) gpuframe.Expr {
				x, y := gpuframe.Col(column), gpuframe.Col(column+"_right")
				return x.Eq(y).Or(x.Sub(y).Abs().Le(y.Abs().Mul(1e-9))).Or(x.IsNaN().And(y.IsNaN()))
			}
			got := frames.Join(groups, gpuframe.Cross)
			require.Equal(t, []string{"true|true|"}, lines(t, got.Select(near("r").As("r"), near("c").As("c"))), "%s: %v", name, lines(t, got))
		}
	})
}
