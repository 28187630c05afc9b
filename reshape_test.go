package gpuframe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

func TestReshape(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q := e.Records(record.Schema(), record)
		require.Equal(t, []string{"1 price 10", "2 price 60", "1 twice 2", "2 twice 4"},
			collect(t, q.Head(2).With(qty.Mul(2.0).As("twice")).Unpivot([]string{"price", "twice"}, "qty")))
		require.Equal(t, []string{"Bern 2 (null) 5", "Oslo 9 1 (null)", "Rome 4 (null) (null)"},
			collect(t, q.GroupBy(city).Pivot(price.Gt(20), []any{true, false, nil}, qty.Sum()).Sort(city)))
	})
}

func TestDescribe(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		f, err := e.Records(record.Schema(), record).Describe(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{
			"count 6 5 6", "null_count 0 1 0", "mean (null) 62 3.5", "std (null) 31.144823004794873 1.8708286933869707",
			"min Bern 10 1", "25% (null) 60 2.25", "50% (null) 70 3.5", "75% (null) 80 4.75", "max Rome 90 6",
		}, collect(t, f.Query()))
		require.NoError(t, f.Release())
	})
}

func TestReshapeProblems(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	record := sales(t)
	q := e.Records(record.Schema(), record)
	for want, query := range map[string]gpuframe.Query{
		"no column is given":                 q.Unpivot(nil),
		`no column is called "nowhere"`:      q.Unpivot([]string{"nowhere"}),
		`column "value" is int32`:            q.Unpivot([]string{"price", "qty"}),
		"no value is given":                  q.GroupBy(city).Pivot(qty, nil, qty.Sum()),
		"Where, SkipNulls and Over apply to": q.GroupBy(city).Pivot(qty, []any{1}, qty),
	} {
		_, err := query.Collect(t.Context())
		require.ErrorContains(t, err, want)
	}
}
