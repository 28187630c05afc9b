package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/spf13/pflag"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
)

// picture has the flags of a chart of the result.
type picture struct{ path, draw, title string }

func (p *picture) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&p.path, "chart", "", "write a chart of the result instead of its rows: to FILE.html, FILE.svg, or FILE.json for Vega-Lite")
	flags.StringVar(&p.draw, "draw", "", "the chart: 'line X Y [COLOUR]', 'bar X Y [COLOUR]', 'points X Y [COLOUR]' or 'histogram X'; by default a line or bars of the first columns")
	flags.StringVar(&p.title, "title", "", "the text above the chart")
}

// check refuses flags that do not fit together.
func (p *picture) check(out *output) error {
	switch {
	case p.path == "" && (p.draw != "" || p.title != ""):
		return errors.New("--draw and --title are of a chart: give its file with --chart")
	case p.path != "" && (out.path != "" || out.to != ""):
		return errors.New("--chart writes a chart instead of rows: leave out --output and --to")
	}
	return nil
}

// draw writes a chart of the result of a query.
func (out *output) draw(ctx context.Context, q gpuframe.Query, options ...gpuframe.RunOption) (err error) {
	frame, err := q.Collect(ctx, options...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, frame.Release()) }()
	chart, err := out.picture.chart(frame)
	if err != nil {
		return err
	}
	var text string
	switch extension := strings.ToLower(filepath.Ext(out.picture.path)); extension {
	case ".html":
		text, err = chart.HTML(ctx)
	case ".svg":
		text, err = chart.SVG(ctx)
	case ".json":
		var spec []byte
		spec, err = chart.VegaLite(ctx)
		text = string(spec)
	default:
		return fmt.Errorf("--chart %s: the extension is %q, expected .html, .svg or .json", out.picture.path, extension)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(out.picture.path, []byte(text), 0o666)
}

// chart returns the chart of the flags.
func (p *picture) chart(frame *gpuframe.Frame) (gpuframe.Chart, error) {
	chart := frame.Chart().Title(p.title)
	if p.draw == "" {
		return defaultChart(chart, frame), nil
	}
	words := append(strings.Fields(p.draw), "")
	words = words[:max(len(words)-1, 1)] // an empty text is a chart without a name
	draw := map[string]func(x, y string) gpuframe.Chart{
		"line": chart.Line, "bar": chart.Bar, "points": chart.Points,
		"histogram": func(x, _ string) gpuframe.Chart { return chart.Histogram(x) },
	}[words[0]]
	least, most := 3, 4
	if words[0] == "histogram" {
		least, most = 2, 2
	}
	switch {
	case draw == nil:
		return chart, fmt.Errorf("--draw: %s", names.Unknown("chart", words[0], []string{"line", "bar", "points", "histogram"}))
	case len(words) < least || len(words) > most:
		return chart, fmt.Errorf("--draw %q has %d columns, expected %d to %d: %s X Y [COLOUR], or histogram X", p.draw, len(words)-1, least-1, most-1, words[0])
	}
	chart = draw(words[1], words[min(2, len(words)-1)])
	for _, colour := range words[min(3, len(words)):] {
		chart = chart.Colour(colour)
	}
	return chart, nil
}

// defaultChart is a line of the first two columns, or bars if the first one has texts, or a histogram of the only one.
func defaultChart(chart gpuframe.Chart, frame *gpuframe.Frame) gpuframe.Chart {
	fields := frame.Schema().Fields()
	if len(fields) == 1 {
		return chart.Histogram(fields[0].Name)
	}
	switch fields[0].Type.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BOOL, arrow.DICTIONARY:
		return chart.Bar(fields[0].Name, fields[1].Name)
	}
	return chart.Line(fields[0].Name, fields[1].Name)
}
