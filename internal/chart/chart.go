package chart

import "math"

// Mark is the kind of a chart.
type Mark string

// The marks, under the names of Vega-Lite.
const (
	Line      Mark = "line"
	Bar       Mark = "bar"
	Point     Mark = "point"
	Histogram Mark = "histogram"
)

// Kind is the kind of the values of an axis, under the name of Vega-Lite.
type Kind string

// The kinds.
const (
	Number Kind = "quantitative"
	Time   Kind = "temporal"
	Text   Kind = "nominal"
)

// Values are the values of an axis or of the colours.
type Values struct {
	Name string
	Kind Kind
	// Numbers are the numbers, or milliseconds since 1970 of times. NaN is null.
	Numbers []float64
	// Texts are the texts, in place of numbers. Missing ones are empty.
	Texts []string
}

// Chart is a chart with its data. All values have one length. A histogram has the beginnings of its bins in X.
type Chart struct {
	Mark          Mark
	Title         string
	Width, Height int
	X, Y          Values
	// Colour has no name if all marks have one colour. Its kind is Text.
	Colour Values
	// Step is the width of the bins of a histogram.
	Step float64
}

// Size returns the width and the height, with their defaults.
func (c *Chart) Size() (width, height int) {
	width, height = c.Width, c.Height
	if width <= 0 {
		width = 640
	}
	if height <= 0 {
		height = 360
	}
	return width, height
}

// rows is the number of rows.
func (c *Chart) rows() int { return max(len(c.X.Numbers), len(c.X.Texts)) }

// drawn reports whether a row has a place: no value of it is null or infinite.
func (c *Chart) drawn(row int) bool { return c.X.has(row) && c.Y.has(row) }

func (v *Values) has(row int) bool {
	return v.Kind == Text || !math.IsNaN(v.Numbers[row]) && !math.IsInf(v.Numbers[row], 0)
}
