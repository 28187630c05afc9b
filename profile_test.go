package gpuframe_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
)

func TestProfile(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q := e.Records(record.Schema(), record, record).Filter(price.Gt(50)).GroupBy(city).Agg(qty.Sum()).Sort(city)
		var p gpuframe.Profile
		require.Empty(t, p.String())
		f, err := q.Collect(t.Context(), gpuframe.Profiled(&p))
		require.NoError(t, err)
		require.NoError(t, f.Release())
		require.Regexp(t, `(?s)^sort by city  \[3 rows in 1 tables, .* in use\]\n.*group by city: .* of rows where price > 50  \[3 rows in 1 tables, 1 expected.*scan 2 records.*  \[12 rows in 2 tables, `, p.String())

		var trace bytes.Buffer
		require.NoError(t, p.WriteTrace(&trace))
		var read struct {
			TraceEvents []struct {
				Name, Ph string
				Ts, Dur  float64
			}
		}
		require.NoError(t, json.Unmarshal(trace.Bytes(), &read))
		require.GreaterOrEqual(t, len(read.TraceEvents), 7)
		sort := read.TraceEvents[0]
		require.Equal(t, "sort by city", sort.Name)
		for _, event := range read.TraceEvents {
			require.Equal(t, "X", event.Ph)
			require.GreaterOrEqual(t, event.Ts, 0.0)
		}
		_, err = q.Collect(t.Context(), gpuframe.Profiled(&p))
		require.ErrorIs(t, err, device.ErrInvalidValue)
		var ofDescribe gpuframe.Profile
		summary, err := e.Records(record.Schema(), record).Describe(t.Context(), gpuframe.Profiled(&ofDescribe))
		require.NoError(t, err)
		require.NoError(t, summary.Release())
		require.Contains(t, ofDescribe.String(), "scan record")
	})
}

func TestRunOptions(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		q := e.Records(record.Schema(), record)
		for want, options := range map[string][]gpuframe.RunOption{
			"option Tag is given twice":        {gpuframe.Tag("a"), gpuframe.Tag("b")},
			"option 0 is the zero RunOption":   {{}},
			"BatchRows is -1, expected one or": {gpuframe.BatchRows(-1)},
			`no pass is called "simplyfy"`:     {gpuframe.WithoutPasses("simplyfy")},
		} {
			_, err := q.Collect(t.Context(), options...)
			require.ErrorIs(t, err, device.ErrInvalidValue)
			require.ErrorContains(t, err, want)
		}
	})
}
