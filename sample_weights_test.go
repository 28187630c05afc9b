package gpuframe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
)

// TestSampleWeights draws rows in proportion to their weights, and none without one.
func TestSampleWeights(t *testing.T) {
	type row struct {
		ID, Group int64
		Weight    *float64
	}
	var rows []row
	for i := range int64(400) {
		weight := []float64{0, 1, 3, -1}[i%4]
		r := row{ID: i, Group: i % 8 / 4, Weight: &weight}
		if i%20 == 1 {
			r.Weight = nil
		}
		rows = append(rows, r)
	}
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		q, id, weight := gpuframe.From(e, rows), gpuframe.Col("ID"), gpuframe.Col("Weight")
		counts := map[int64]int{}
		for seed := range uint64(40) {
			drawn, err := gpuframe.Column[int64](t.Context(), mustCollect(t, q.SampleRows(20, gpuframe.SampleOptions{Seed: seed, Weight: weight})), "ID")
			require.NoError(t, err)
			require.Len(t, drawn, 20)
			require.IsIncreasing(t, drawn)
			for _, id := range drawn {
				require.NotNil(t, rows[id].Weight)
				counts[id%4]++
			}
		}
		require.Zero(t, counts[0]+counts[3])
		// 80 rows of weight 1 and 100 of weight 3: 80 of 380 are expected of the first draw.
		require.InDelta(t, 0.22, float64(counts[1])/800, 0.06)
		require.Equal(t, []string{"0|45|", "1|45|"}, lines(t, q.Sample(0.5, gpuframe.SampleOptions{By: []gpuframe.Expression{gpuframe.Col("Group")}, Weight: weight}).
			GroupBy(gpuframe.Col("Group")).Agg(gpuframe.Count().As("n")).Sort(gpuframe.Col("Group"))))
		require.Len(t, lines(t, q.SampleRows(1000, gpuframe.SampleOptions{Weight: weight})), 180)
		for _, bad := range []gpuframe.Query{
			q.Sample(0.5, gpuframe.SampleOptions{Weight: weight}), q.SampleRows(5, gpuframe.SampleOptions{Weight: weight, Replace: true}),
		} {
			_, err := bad.Collect(t.Context())
			require.ErrorIs(t, err, device.ErrInvalidValue)
		}
		_, err := q.SampleRows(5, gpuframe.SampleOptions{Weight: id.Sum()}).Collect(t.Context())
		require.ErrorContains(t, err, "has an aggregate")
	})
}

func mustCollect(t *testing.T, q gpuframe.Query) *gpuframe.Frame {
	f, err := q.Collect(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Release()) })
	return f
}

// TestPivotAll finds the values itself.
func TestPivotAll(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q := e.Records(record.Schema(), record).GroupBy(city)
		byPrice, err := q.PivotAll(t.Context(), price.Gt(20), qty.Sum())
		require.NoError(t, err)
		require.Equal(t, lines(t, q.Pivot(price.Gt(20), []any{false, true, nil}, qty.Sum()).Sort(city)), lines(t, byPrice.Sort(city)))
		byCity, err := q.PivotAll(t.Context(), city, qty.Sum())
		require.NoError(t, err)
		schema, err := byCity.Schema(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"city", "Bern", "Oslo", "Rome"}, []string{schema.Field(0).Name, schema.Field(1).Name, schema.Field(2).Name, schema.Field(3).Name})
		type row struct{ X int64 }
		many := make([]row, 2000)
		for i := range many {
			many[i].X = int64(i)
		}
		_, err = gpuframe.From(e, many).GroupBy(gpuframe.Lit(1)).PivotAll(t.Context(), gpuframe.Col("X"), gpuframe.Count())
		require.ErrorIs(t, err, device.ErrInvalidValue)
	})
}
