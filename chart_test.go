package gpuframe_test

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// measured has a column of each kind that a chart draws.
type measured struct {
	Day   time.Time `gpuframe:"day"`
	Site  string    `gpuframe:"site"`
	Value *float64  `gpuframe:"value"`
	Level int8      `gpuframe:"level"`
	Open  bool      `gpuframe:"open"`
	Parts []int64   `gpuframe:"parts"`
}

func measurements() []measured {
	day := time.Date(2026, 1, 30, 0, 0, 0, 0, time.UTC)
	value := func(x float64) *float64 { return &x }
	return []measured{
		{day, "a", value(1.5), 1, true, nil}, {day.AddDate(0, 0, 1), "b", nil, -2, false, nil},
		{day.AddDate(0, 0, 2), "a", value(math.Inf(1)), 3, true, nil}, {day.AddDate(0, 0, 3), "b", value(-4), 4, true, nil},
	}
}

func chartFrame(t *testing.T) *gpuframe.Frame {
	frame, err := gpuframe.From(keysEngine(t), measurements()).Collect(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, frame.Release()) })
	return frame
}

// chartRows returns the data of a specification.
func chartRows(t *testing.T, c gpuframe.Chart) []map[string]any {
	text, err := c.VegaLite(t.Context())
	require.NoError(t, err)
	var spec struct {
		Data struct{ Values []map[string]any }
	}
	require.NoError(t, json.Unmarshal(text, &spec))
	return spec.Data.Values
}

func TestChartRows(t *testing.T) {
	chart := chartFrame(t).Chart()
	require.Equal(t, []map[string]any{
		{"x": "2026-01-30T00:00:00.000Z", "y": 1.5, "color": "a"},
		{"x": "2026-02-02T00:00:00.000Z", "y": -4.0, "color": "b"},
	}, chartRows(t, chart.Line("day", "value").Colour("site")), "null and infinite values are left out")
	require.Equal(t, map[string]any{"x": "b", "y": -2.0, "color": "false"}, chartRows(t, chart.Bar("site", "level").Colour("open"))[1])
	require.Equal(t, map[string]any{"x": 3.0, "y": 3.0, "color": "3"}, chartRows(t, chart.Points("level", "level").Colour("level"))[2])
	require.Equal(t, []map[string]any{{"x": -4.0, "end": -3.5, "y": 1.0}, {"x": 1.5, "end": 2.0, "y": 1.0}}, slices.DeleteFunc(chartRows(t, chart.Histogram("value")), func(row map[string]any) bool { return row["y"] == 0.0 }))
	page, err := chart.Title("Values").Line("day", "value").HTML(t.Context())
	require.NoError(t, err)
	require.Contains(t, page, "<title>Values</title>")
	require.Contains(t, page, "<svg ")
}

// TestChartRead has the forms of a chart after its frame is released, and reads again for another mark.
func TestChartRead(t *testing.T) {
	frame, err := gpuframe.From(keysEngine(t), measurements()).Collect(t.Context())
	require.NoError(t, err)
	for _, chart := range []gpuframe.Chart{frame.Chart().Line("day", "value").Colour("site"), frame.Chart().Histogram("level")} {
		once, err := chart.HTML(t.Context())
		require.NoError(t, err)
		chart, err = chart.Read(t.Context())
		require.NoError(t, err)
		again, err := chart.HTML(t.Context())
		require.NoError(t, err)
		require.Equal(t, once, again)
		require.Len(t, chartRows(t, chart.Points("level", "level").Colour("")), 4)
		defer func() {
			read, err := chart.HTML(t.Context())
			require.NoError(t, err)
			require.Equal(t, once, read, "nothing is read again")
			_, err = chart.Points("level", "level").SVG(t.Context())
			require.Error(t, err)
		}()
	}
	require.NoError(t, frame.Release())
}

func TestChartErrors(t *testing.T) {
	frame := chartFrame(t)
	chart := frame.Chart()
	many, err := frame.Query().Join(frame.Query(), gpuframe.Cross).Join(frame.Query().Join(frame.Query().Join(frame.Query().Join(frame.Query().Join(frame.Query(), gpuframe.Cross), gpuframe.Cross), gpuframe.Cross), gpuframe.Cross), gpuframe.Cross).Select("level").Collect(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, many.Release()) }()
	for text, test := range map[string]struct {
		chart gpuframe.Chart
		is    error
	}{
		"the zero chart has no frame":                                  {gpuframe.Chart{}, device.ErrInvalidValue},
		"choose a line, bars, points or a histogram":                   {chart.Title("x"), device.ErrInvalidValue},
		`no column is called "leve": there are "level"`:                {chart.Line("day", "leve"), buffer.ErrSchema},
		`column "parts" is list`:                                       {chart.Line("parts", "level"), device.ErrInvalidValue},
		`column "site" of the vertical axis is utf8, expected numbers`: {chart.Line("day", "site"), device.ErrInvalidValue},
		`histogram: column "site" is utf8, expected numbers`:           {chart.Histogram("site"), device.ErrInvalidValue},
		`no column is called ""`:                                       {chart.Line("", ""), buffer.ErrSchema},
		`no column is called "x"`:                                      {chart.Histogram("x"), buffer.ErrSchema},
		"a histogram has no colours: leave out their column":           {chart.Histogram("level").Colour("site"), device.ErrInvalidValue},
		"the frame has 16384 rows, at most 10000 are drawn":            {many.Chart().Line("level", "level"), device.ErrInvalidValue},
	} {
		_, err := test.chart.HTML(t.Context())
		require.ErrorIs(t, err, test.is, text)
		require.ErrorContains(t, err, text)
		require.NotContains(t, err.Error(), ".go:", "no file of the library")
		_, err = test.chart.SVG(t.Context())
		require.Error(t, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = chart.Histogram("level").VegaLite(cancelled)
	require.ErrorIs(t, err, context.Canceled)
	require.NotEmpty(t, chartRows(t, many.Chart().Histogram("level")), "a histogram has any number of rows")
}

// TestHistograms compares the ranges with a count in Go, on each device.
func TestHistograms(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		engine, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(1<<28))
		require.NoError(t, err)
		defer func() { require.NoError(t, engine.Close()) }()
		type row struct {
			X float64 `gpuframe:"x"`
			N int32   `gpuframe:"n"`
			S string  `gpuframe:"s"`
		}
		rows := make([]row, 500)
		for i := range rows {
			rows[i] = row{math.Sin(float64(i)) * 100, int32(i % 37), "text"}
		}
		rows[7].X, rows[8].X = math.NaN(), math.Inf(-1)
		list, err := gpuframe.From(engine, rows).Histograms(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, list, 2, "texts have none")
		for i, value := range []func(row) float64{func(r row) float64 { return r.X }, func(r row) float64 { return float64(r.N) }} {
			h := list[i]
			want := make([]int64, len(h.Rows))
			for _, r := range rows {
				if x := value(r); !math.IsNaN(x) && !math.IsInf(x, 0) {
					want[int(math.Floor((x-h.Begin)/h.Step))]++
				}
			}
			require.Equal(t, want, h.Rows, h.Column)
			require.LessOrEqual(t, len(h.Rows), 22)
		}
	})
}

// TestManyHistograms has more counts together than one query has expressions for, and the options of the run.
func TestManyHistograms(t *testing.T) {
	engine := keysEngine(t)
	type row struct {
		X int64 `gpuframe:"x"`
	}
	rows := make([]row, 2000)
	for i := range rows {
		rows[i].X = int64(i)
	}
	var columns []gpuframe.Key
	for i := range 20 {
		columns = append(columns, gpuframe.Col("x").Mul(i+1).As(strings.Repeat("x", i+1)))
	}
	var profile gpuframe.Profile
	list, err := gpuframe.From(engine, rows).Select(columns...).Histograms(t.Context(), 200, gpuframe.Profiled(&profile))
	require.NoError(t, err)
	require.Len(t, list, 20)
	require.Contains(t, profile.String(), "variable", "the options are those of the second run too")
	for i, h := range list {
		want := make([]int64, len(h.Rows))
		for _, r := range rows {
			want[int(math.Floor((float64(r.X*int64(i+1))-h.Begin)/h.Step))]++
		}
		require.Equal(t, want, h.Rows)
	}
}

func TestHistogramsOfExtremes(t *testing.T) {
	engine := keysEngine(t)
	type row struct {
		X float64 `gpuframe:"x"`
	}
	for name, values := range map[string][]float64{
		"one value": {7, 7}, "all": {-math.MaxFloat64, math.MaxFloat64}, "close": {1, math.Nextafter(1, 2)}, "smallest": {0, math.SmallestNonzeroFloat64},
		"large": {1e300, 1e300}, "nothing": {math.NaN()}, "no rows": nil,
	} {
		var rows []row
		var finite int64
		for _, x := range values {
			rows = append(rows, row{x})
			if !math.IsNaN(x) {
				finite++
			}
		}
		list, err := gpuframe.From(engine, rows).Histograms(t.Context(), 20)
		require.NoError(t, err, name)
		var sum int64
		for _, n := range list[0].Rows {
			sum += n
		}
		require.Equal(t, finite, sum, name)
	}
	_, err := gpuframe.From(engine, []row{{1}}).Histograms(t.Context(), 0)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	require.Equal(t, "▁ █▅", gpuframe.Histogram{Rows: []int64{1, 0, 90, 50}}.String())
	require.Empty(t, strings.TrimSpace(gpuframe.Histogram{}.String()))
}
