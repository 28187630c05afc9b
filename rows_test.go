package gpuframe_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
)

type trade struct {
	Symbol string    `gpuframe:"symbol"`
	Time   time.Time `gpuframe:"time"`
	Price  *float64  `gpuframe:"price"`
}

type quote struct {
	Symbol string    `gpuframe:"symbol"`
	Time   time.Time `gpuframe:"time"`
	Bid    float64   `gpuframe:"bid"`
}

// at returns a time some seconds after noon.
func at(seconds int) time.Time { return time.Date(2026, 6, 1, 12, 0, seconds, 0, time.UTC) }

func TestGoValues(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		value := 2.5
		trades := []trade{{"A", at(1), &value}, {"B", at(5), nil}, {"A", at(9), &value}}
		q := gpuframe.From(e, trades)
		var back []trade
		for row, err := range gpuframe.Rows[trade](t.Context(), q) {
			require.NoError(t, err)
			back = append(back, row)
		}
		require.Equal(t, trades, back)
		for row, err := range gpuframe.Rows[trade](t.Context(), q) {
			require.NoError(t, err)
			require.Equal(t, trades[0], row)
			break
		}
		for _, err := range gpuframe.Rows[struct{ Nowhere int }](t.Context(), q) {
			require.ErrorContains(t, err, "Nowhere")
		}
		for _, err := range gpuframe.Rows[trade](t.Context(), q.Filter(gpuframe.Col("nowhere"))) {
			require.ErrorIs(t, err, buffer.ErrSchema)
		}
		counts, err := q.GroupBy(gpuframe.Col("symbol")).Agg(gpuframe.Count().As("n")).Sort(gpuframe.Col("symbol")).Collect(t.Context())
		require.NoError(t, err)
		n, err := gpuframe.Column[int64](t.Context(), counts, "n")
		require.NoError(t, err)
		require.Equal(t, []int64{2, 1}, n)
		_, err = gpuframe.Column[int64](t.Context(), counts, "symbol")
		require.ErrorContains(t, err, `gpuframe: column "symbol"`)
		_, err = gpuframe.Column[int64](t.Context(), counts, "sum")
		require.ErrorIs(t, err, buffer.ErrSchema)
		require.Contains(t, counts.HTML(), "<table")
		require.NoError(t, counts.Release())
	})
}

func TestAsOf(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		trades := gpuframe.From(e, []trade{{"A", at(1), nil}, {"B", at(5), nil}, {"A", at(9), nil}, {"C", at(9), nil}}).Drop("price")
		quotes := gpuframe.From(e, []quote{{"B", at(4), 7}, {"A", at(2), 1}, {"A", at(8), 2}, {"B", at(6), 8}})
		symbol, when := gpuframe.Col("symbol"), gpuframe.Col("time")
		by := []gpuframe.JoinTerm{symbol}
		bids := func(options gpuframe.AsOfOptions) []string {
			return collect(t, trades.AsOf(quotes, when, options).Select(symbol, gpuframe.Col("bid")))
		}
		require.Equal(t, []string{"A (null)", "B 7", "A 2", "C (null)"}, bids(gpuframe.AsOfOptions{By: by}))
		require.Equal(t, []string{"A 1", "B 8", "A (null)", "C (null)"}, bids(gpuframe.AsOfOptions{By: by, Direction: gpuframe.Forward}))
		require.Equal(t, []string{"A 2"}, bids(gpuframe.AsOfOptions{By: by, Tolerance: time.Second, MatchedOnly: true})[1:])
		require.Equal(t, []string{"A 1", "B 7", "A 2", "C 2"}, bids(gpuframe.AsOfOptions{Direction: gpuframe.Nearest}))
		_, err := trades.AsOf(quotes, gpuframe.On(when, symbol), gpuframe.AsOfOptions{}).Collect(t.Context())
		require.Error(t, err)
		_, err = trades.AsOf(quotes, gpuframe.Suffix("x"), gpuframe.AsOfOptions{}).Collect(t.Context())
		require.ErrorContains(t, err, "an as-of join has one key")
	})
}
