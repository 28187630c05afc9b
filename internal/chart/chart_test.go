package chart

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// charts are one of each mark and each kind of axis, and charts without rows.
func charts() map[string]*Chart {
	numbers := Values{Name: "delay.[x]", Kind: Number, Numbers: []float64{1, -2, math.NaN(), 3.5}}
	times := Values{Name: "day", Kind: Time, Numbers: []float64{0, 86400e3, 2 * 86400e3, 40 * 86400e3}}
	texts := Values{Name: "</script><b>", Kind: Text, Texts: []string{"OSL", "\x00<&>\"'", "OSL", ""}}
	return map[string]*Chart{
		"line":         {Mark: Line, X: times, Y: numbers, Title: "a <title>"},
		"coloured":     {Mark: Line, X: numbers, Y: numbers, Colour: texts},
		"bars":         {Mark: Bar, X: texts, Y: numbers},
		"stacked bars": {Mark: Bar, X: times, Y: numbers, Colour: texts, Width: 300, Height: 100},
		"points":       {Mark: Point, X: texts, Y: numbers, Colour: texts},
		"histogram":    {Mark: Histogram, X: Values{Name: "delay", Kind: Number, Numbers: []float64{0, 5, 10}}, Y: Values{Name: "rows", Kind: Number, Numbers: []float64{3, 0, 9}}, Step: 5},
		"no rows":      {Mark: Line, X: Values{Kind: Number}, Y: Values{Kind: Number}},
		"no texts":     {Mark: Bar, X: Values{Kind: Text}, Y: Values{Kind: Number}},
		"tiny":         {Mark: Point, X: numbers, Y: numbers, Colour: texts, Width: 1, Height: 1},
	}
}

// elements reads a document of XML and returns the number of elements of each name.
func elements(t *testing.T, text string) map[string]int {
	counts := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return counts
		}
		require.NoError(t, err, text)
		if e, ok := token.(xml.StartElement); ok {
			counts[e.Name.Local]++
		}
	}
}

// TestDrawingsAreXML also with texts that have marks of XML and control characters.
func TestDrawingsAreXML(t *testing.T) {
	want := map[string]map[string]int{
		"points": {"circle": 3, "rect": 3}, "bars": {"rect": 3}, "histogram": {"rect": 3}, "no rows": {"rect": 0},
	}
	for name, c := range charts() {
		t.Run(name, func(t *testing.T) {
			counts := elements(t, c.SVG())
			require.Equal(t, 1, counts["svg"])
			require.Zero(t, counts["script"]+counts["b"])
			for element, n := range want[name] {
				require.Equal(t, n, counts[element], element)
			}
			page, err := c.HTML()
			require.NoError(t, err)
			require.Equal(t, 1, strings.Count(page, "</script>"), "no text of the data ends the script")
			require.NotContains(t, page, "http://"+"e", "the page loads nothing")
		})
	}
}

// TestSpecifications has the data and the encoding of the specification.
func TestSpecifications(t *testing.T) {
	text, err := charts()["stacked bars"].VegaLite()
	require.NoError(t, err)
	var spec struct {
		Data     struct{ Values []map[string]any }
		Encoding map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal(text, &spec))
	require.Len(t, spec.Data.Values, 3, "a row without a number is left out")
	require.Equal(t, map[string]any{"x": "1970-02-10T00:00:00.000Z", "y": 3.5, "color": ""}, spec.Data.Values[2])
	require.Equal(t, "day", spec.Encoding["x"]["title"])
	require.Equal(t, "temporal", spec.Encoding["x"]["type"])
}

// TestVegaLiteReadsTheSpecifications validates each one with the JSON schema of Vega-Lite and compiles it, which must
// not warn. scripts/fetch-vega.sh fetches the library.
func TestVegaLiteReadsTheSpecifications(t *testing.T) {
	folder, err := filepath.Abs("../../build/vega")
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(folder, "node_modules")); err != nil {
		t.Skip("scripts/fetch-vega.sh has not fetched Vega-Lite: the specifications are not read with it")
	}
	specs := map[string]json.RawMessage{}
	for name, c := range charts() {
		text, err := c.VegaLite()
		require.NoError(t, err)
		specs[name] = text
	}
	specs["wrong"] = json.RawMessage(`{"mark": "cloud", "data": {"values": []}}`)
	input, err := json.Marshal(specs)
	require.NoError(t, err)
	command := exec.Command("node", filepath.Join("testdata", "validate.mjs"), folder)
	command.Stdin, command.Stderr = strings.NewReader(string(input)), os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	var problems map[string]string
	require.NoError(t, json.Unmarshal(output, &problems))
	require.Contains(t, problems, "wrong", "the library finds faults")
	delete(problems, "wrong")
	require.Empty(t, problems)
}

// TestScales draws any numbers: labels lie on the axis, and values between the ends.
func TestScales(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		ends := []float64{rapid.Float64().Draw(r, "one end"), rapid.Float64().Draw(r, "other end")}
		low, high := math.Min(ends[0], ends[1]), math.Max(ends[0], ends[1])
		s := newNumbers(Number, low, high, 0, 100)
		require.NotEmpty(r, s.labels)
		require.LessOrEqual(r, len(s.labels), 21)
		if math.IsInf(high-low, 0) {
			return
		}
		for i, each := range s.labels {
			if i > 0 {
				require.NotEqual(r, s.labels[i-1].text, each.text, "%v to %v", low, high)
			}
			require.True(r, each.at >= -1e-6 && each.at <= 100+1e-6, "%v of %v to %v", each, low, high)
		}
	})
}

// TestNeighboursDiffer has different labels next to each other on axes that are narrow or far from zero.
func TestNeighboursDiffer(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		low := rapid.Float64Range(-1e9, 1e9).Draw(r, "low")
		span := math.Pow(10, rapid.Float64Range(-9, 9).Draw(r, "exponent of the span"))
		times := rapid.Float64Range(0, 4e12).Draw(r, "time") // to 2096
		for _, s := range []*scale{newNumbers(Number, low, low+span, 0, 1), newNumbers(Time, math.Floor(times), math.Floor(times+span*1000), 0, 1)} {
			for i := 1; i < len(s.labels); i++ {
				require.NotEqual(r, s.labels[i-1].text, s.labels[i].text)
			}
		}
	})
}

func TestLabels(t *testing.T) {
	const day = 86400e3
	for _, test := range []struct {
		low, high   float64
		first, last string
		kind        Kind
	}{
		{0, 1, "0.0", "1.0", Number},
		{0, 97, "0", "100", Number},
		{-0.003, 0.0021, "-0.003", "0.003", Number},
		{0, 3e9, "0", "3e+09", Number},
		{0, 3 * day, "01-01 00:00", "01-04 00:00", Time},
		{0, 7 * day, "1970-01-01", "1970-01-08", Time},
		{0, 3600e3, "00:00", "01:00", Time},
		{0, 400 * day, "1970-01", "1971-01", Time},
		{day / 2, 2 * day, "01-01 12:00", "01-03 00:00", Time},
		{0, 0, "1970-01-01 00:00:00", "1970-01-01 00:00:00", Time},
		{10_000_000, 10_000_005, "10000000", "10000005", Number},
		{0, 5e-324, "0", "4.941e-324", Number},
		{0, 40 * 365 * day, "1970", "2000", Time},
		{-5000, 5000, "23:59:55", "00:00:05", Time},
	} {
		s := newNumbers(test.kind, test.low, test.high, 0, 1)
		require.Equal(t, test.first, s.labels[0].text, test)
		require.Equal(t, test.last, s.labels[len(s.labels)-1].text, test)
	}
}

// TestNarrowDrawings have the legend below the rows, inside of the drawing, and their labels of numbers and times do not overlap.
func TestNarrowDrawings(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bcd", "efghijklmnop", "qrstuvwxyzqrstuvwxyzqrstuvwxyz"}), 1, 40).Draw(r, "names")
		for i := range names {
			names[i] = strconv.Itoa(i) + names[i]
		}
		c := Chart{Mark: Line, Width: rapid.IntRange(200, narrowWidth-1).Draw(r, "width"), Height: rapid.IntRange(240, 500).Draw(r, "height")}
		c.X, c.Y, c.Colour = Values{Name: "day", Kind: Time}, Values{Name: "mean", Kind: Number}, Values{Name: "origin", Kind: Text, Texts: names}
		for range names {
			c.X.Numbers = append(c.X.Numbers, rapid.Float64Range(0, 4e12).Draw(r, "time"))
			c.Y.Numbers = append(c.Y.Numbers, rapid.Float64Range(-1e9, 1e9).Draw(r, "number"))
		}
		var drawing struct {
			Text []struct {
				X      float64 `xml:"x,attr"`
				Y      float64 `xml:"y,attr"`
				Anchor string  `xml:"text-anchor,attr"`
				Text   string  `xml:",chardata"`
			} `xml:"text"`
		}
		require.NoError(r, xml.Unmarshal([]byte(c.SVG()), &drawing))
		axis, end, isLegend := 0.0, math.Inf(-1), false
		for _, each := range drawing.Text {
			require.Less(r, each.Y, float64(c.Height), each.Text)
			isLegend = isLegend || each.Text == "origin"
			switch {
			case each.Text == "day":
				axis = each.Y
			case isLegend:
				require.Greater(r, each.Y, axis, each.Text)
				require.LessOrEqual(r, each.X+float64(len(each.Text)*letterWidth), float64(c.Width), each.Text)
			case each.Anchor == "middle" && each.Text != "mean" && axis == 0:
				half := float64(len(each.Text)*letterWidth) / 2
				require.GreaterOrEqual(r, each.X-half, end-0.2, each.Text) // places have one decimal
				end = each.X + half
			}
		}
		require.True(r, isLegend)
	})
}
