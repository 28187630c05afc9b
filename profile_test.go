package gpuframe_test

import (
	"bytes"
	"encoding/json"
	"strings"
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
		require.Empty(t, p.Operations())
		f, err := q.Collect(t.Context(), gpuframe.Profiled(&p))
		require.NoError(t, err)
		require.NoError(t, f.Release())
		require.Regexp(t, `(?s)^sort by city  \[3 rows in 1 tables, .* in use\]\n.*group by city: .* of rows where price > 50  \[3 rows in 1 tables, 1 expected.*scan 2 records.*  \[12 rows in 2 tables, `, p.String())
		operations := p.Operations()
		require.Equal(t, "sort by city", operations[0].Name)
		scan := operations[len(operations)-1]
		require.Contains(t, scan.Name, "scan 2 records")
		require.Equal(t, []int64{12, 2}, []int64{scan.Rows, scan.Tables})
		require.NotZero(t, scan.Bytes)

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

// TestFiltersAreShared runs a filter once that both sides of a join read.
func TestFiltersAreShared(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		record := sales(t)
		cheap := e.Records(record.Schema(), record).Filter(price.Le(50)).Select(city, qty)
		q := cheap.Join(cheap.Rename("qty", "other"), gpuframe.Inner, city).Sort(city, qty, gpuframe.Col("other"))
		read := func(options ...gpuframe.RunOption) (scanned, rows int64) {
			var p gpuframe.Profile
			f, err := q.Collect(t.Context(), append(options, gpuframe.Profiled(&p))...)
			require.NoError(t, err)
			rows = f.NumRows()
			require.NoError(t, f.Release())
			for _, o := range p.Operations() {
				if strings.HasPrefix(o.Name, "scan") {
					scanned += o.Rows
				}
			}
			return scanned, rows
		}
		once, rows := read()
		twice, same := read(gpuframe.WithoutPasses("share subplans"))
		require.Equal(t, record.NumRows(), once)
		require.Equal(t, 2*record.NumRows(), twice)
		require.Equal(t, same, rows)
		require.Positive(t, rows)
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
