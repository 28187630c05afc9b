package command

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
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
	flags.StringVar(&p.draw, "draw", "", "the chart: 'line X Y [COLOUR]', 'bar X Y [COLOUR]', 'points X Y [COLOUR]' or 'histogram X', a name with blanks in \"\"; by default a line or bars of the first columns")
	flags.StringVar(&p.title, "title", "", "the text above the chart")
}

// check refuses flags that do not fit together.
func (p *picture) check(out *output) error {
	switch {
	case p.path == "" && (p.draw != "" || p.title != ""):
		return errors.New("--draw and --title are of a chart: give its file with --chart")
	case p.path != "" && (out.path != "" || out.to != ""):
		return errors.New("--chart writes a chart instead of rows: leave out --output and --to")
	case p.path == "":
		return nil
	}
	switch extension := p.extension(); extension {
	case ".html", ".svg", ".json":
	default:
		return fmt.Errorf("--chart %s: the extension is %q, expected .html, .svg or .json", p.path, extension)
	}
	_, err := p.words()
	return err
}

// extension is that of the file, which decides its format.
func (p *picture) extension() string { return strings.ToLower(filepath.Ext(p.path)) }

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
	switch out.picture.extension() {
	case ".html":
		text, err = chart.HTML(ctx)
	case ".svg":
		text, err = chart.SVG(ctx)
	case ".json":
		var spec []byte
		spec, err = chart.VegaLite(ctx)
		text = string(spec)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(out.picture.path, []byte(text), 0o666)
}

// words returns the kind of the chart and the names of its columns, or nothing without --draw.
func (p *picture) words() ([]string, error) {
	if p.draw == "" {
		return nil, nil
	}
	reader := csv.NewReader(strings.NewReader(strings.TrimSpace(p.draw)))
	reader.Comma, reader.TrimLeadingSpace = ' ', true
	words, err := reader.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("--draw %q: expected names that are divided by blanks, those with blanks in \"\": %w", p.draw, err)
	}
	words = append(words, "")[:max(len(words), 1)] // an empty text is a chart without a name
	least, most := 2, 3
	switch words[0] {
	case "line", "bar", "points":
	case "histogram":
		least, most = 1, 1
	default:
		return nil, fmt.Errorf("--draw: %s", names.Unknown("chart", words[0], []string{"line", "bar", "points", "histogram"}))
	}
	if columns := len(words) - 1; columns < least || columns > most {
		return nil, fmt.Errorf("--draw %q has %d columns, expected %d to %d: %s X Y [COLOUR], or histogram X", p.draw, columns, least, most, words[0])
	}
	return words, nil
}

// chart returns the chart of the flags.
func (p *picture) chart(frame *gpuframe.Frame) (gpuframe.Chart, error) {
	chart := frame.Chart().Title(p.title)
	words, err := p.words()
	switch {
	case err != nil:
		return chart, err
	case len(words) == 0:
		return defaultChart(chart, frame)
	}
	switch words[0] {
	case "line":
		chart = chart.Line(words[1], words[2])
	case "bar":
		chart = chart.Bar(words[1], words[2])
	case "points":
		chart = chart.Points(words[1], words[2])
	case "histogram":
		chart = chart.Histogram(words[1])
	}
	if len(words) == 4 {
		chart = chart.Colour(words[3])
	}
	return chart, nil
}

// defaultChart is a line of the first two columns, or bars if the first one has texts, or a histogram of the only one.
func defaultChart(chart gpuframe.Chart, frame *gpuframe.Frame) (gpuframe.Chart, error) {
	fields := frame.Schema().Fields()
	switch len(fields) {
	case 0:
		return chart, errors.New("--chart: the result has no columns: select those to draw")
	case 1:
		return chart.Histogram(fields[0].Name), nil
	}
	switch fields[0].Type.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BOOL, arrow.DICTIONARY:
		return chart.Bar(fields[0].Name, fields[1].Name), nil
	}
	return chart.Line(fields[0].Name, fields[1].Name), nil
}
