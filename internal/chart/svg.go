package chart

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/gpuframe/gpuframe/internal/text/render"
)

// colours are those of Okabe and Ito, which readers with other colour vision distinguish.
var colours = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999933", "#882255"}

// Margins around the rows, in pixels.
const (
	left, right, top, bottom = 64, 16, 16, 48
	titleHeight              = 22
	legendWidth              = 128
	// mostLegend is the number of colours of the legend.
	mostLegend = 16
	// A drawing below narrowWidth has its legend below the rows, with places of slotWidth.
	narrowWidth, slotWidth, slotHeight = 480, 96, 16
	// letterWidth is that of a letter.
	letterWidth = 6
)

// drawing is the state of one drawing.
type drawing struct {
	*Chart
	strings.Builder
	x, y *scale
	// names are the values of the colours in their order, and number their numbers.
	names  []string
	number map[string]int
	// plot is the rectangle of the rows.
	x0, y0, x1, y1 float64
}

// SVG draws the chart. The text has no scripts and no links.
func (c *Chart) SVG() string {
	d := &drawing{Chart: c, number: map[string]int{}}
	width, height := c.Size()
	d.x0, d.y0, d.x1, d.y1 = left, top, float64(max(width-right, left+1)), float64(max(height-bottom, top+titleHeight+1))
	if c.Title != "" {
		d.y0 += titleHeight
	}
	if c.Colour.Name != "" {
		for _, name := range c.Colour.Texts {
			if _, ok := d.number[name]; !ok {
				d.number[name] = len(d.names)
				d.names = append(d.names, name)
			}
		}
		if width < narrowWidth {
			lines := (min(len(d.names), d.mostNames()+1) + d.columns()) / d.columns()
			d.y1 = math.Max(d.y1-float64(lines*slotHeight), d.y0+1)
		} else {
			d.x1 = math.Max(d.x1-legendWidth, d.x0+1)
		}
	}
	d.scales()
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="system-ui, sans-serif" font-size="11" fill="currentColor">`, width, height, width, height)
	fmt.Fprintf(d, "<title>%s</title>", escaped(c.description()))
	if c.Title != "" {
		d.text((d.x0+d.x1)/2, top+8, "middle", c.Title, ` font-size="14"`)
	}
	d.axes()
	d.marks()
	d.legend()
	d.WriteString("</svg>")
	return d.String()
}

// description is the text for readers that do not see the drawing.
func (c *Chart) description() string {
	text := fmt.Sprintf("%s of %s by %s, %d rows", c.Mark, c.Y.Name, c.X.Name, c.rows())
	if c.Colour.Name != "" {
		text += ", colours by " + c.Colour.Name
	}
	if c.Title != "" {
		text = c.Title + ": " + text
	}
	return text
}

// escaped returns a text for XML, without characters that XML lacks.
func escaped(text string) string {
	return render.EscapeHTML(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, text))
}

// shortened returns the beginning of a text that is too long for its place.
func shortened(text string, most int) string {
	letters := []rune(text)
	if len(letters) <= most {
		return text
	}
	return string(letters[:max(most-1, 0)]) + "…"
}

// text writes a text with attributes.
func (d *drawing) text(x, y float64, anchor, text, attributes string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`, x, y, anchor, attributes, escaped(text))
}

// scales chooses the scales of both axes.
func (d *drawing) scales() {
	if d.X.Kind == Text {
		d.x = newTexts(&d.X, d.x0, d.x1)
	} else {
		low, high := d.ends(&d.X)
		if d.Mark == Histogram {
			high += d.Step
		}
		d.x = newNumbers(d.X.Kind, low, high, d.x0, d.x1)
	}
	low, high := d.ends(&d.Y)
	if d.Mark == Bar {
		low, high = d.stackEnds()
	}
	if d.Mark == Bar || d.Mark == Histogram {
		low, high = math.Min(low, 0), math.Max(high, 0)
	}
	d.y = newNumbers(d.Y.Kind, low, high, d.y1, d.y0)
}

// ends returns the least and the greatest number of the rows that are drawn.
func (d *drawing) ends(v *Values) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for row := range d.rows() {
		if d.drawn(row) {
			low, high = math.Min(low, v.Numbers[row]), math.Max(high, v.Numbers[row])
		}
	}
	if low > high {
		return 0, 1
	}
	return low, high
}

// axes draws both axes with their labels and names.
func (d *drawing) axes() {
	room := int((d.x1 - d.x0) / letterWidth / float64(max(len(d.x.labels), 1)))
	every := 1
	if d.X.Kind == Text && room < 3 { // too many texts: some labels
		every = len(d.x.labels)*3*letterWidth/int(d.x1-d.x0+1) + 1
		room *= every
	}
	end := math.Inf(-1) // of the last label
	for i, t := range d.x.labels {
		fmt.Fprintf(d, `<path d="M%.1f %.1fv4" stroke="currentColor"/>`, t.at, d.y1)
		if i%every != 0 {
			continue
		}
		label := t.text
		if d.X.Kind == Text {
			label = shortened(label, max(room-1, 2))
		} else {
			half := float64(len(label)*letterWidth) / 2
			if t.at-half < end {
				continue // it would be over its neighbour
			}
			end = t.at + half
		}
		d.text(t.at, d.y1+16, "middle", label, "")
	}
	for _, t := range d.y.labels {
		fmt.Fprintf(d, `<path d="M%.1f %.1fH%.1f" stroke="currentColor" stroke-opacity=".15"/>`, d.x0, t.at, d.x1)
		d.text(d.x0-6, t.at+4, "end", t.text, "")
	}
	fmt.Fprintf(d, `<path d="M%.1f %.1fV%.1fH%.1f" stroke="currentColor" fill="none"/>`, d.x0, d.y0, d.y1, d.x1)
	d.text((d.x0+d.x1)/2, d.y1+36, "middle", shortened(d.X.Name, 80), "")
	middle := (d.y0 + d.y1) / 2
	d.text(14, middle, "middle", shortened(d.Y.Name, 40), fmt.Sprintf(` transform="rotate(-90 14 %.1f)"`, middle))
}

// legend draws the names of the colours.
func (d *drawing) legend() {
	if d.Colour.Name == "" {
		return
	}
	x, y := d.slot(0)
	most := 18
	if d.columns() > 0 {
		most = slotWidth/letterWidth - 1
	}
	d.text(x, y, "start", shortened(d.Colour.Name, most), ` font-weight="bold"`)
	for i, name := range d.names {
		x, y = d.slot(i + 1)
		if i == d.mostNames() {
			d.text(x, y, "start", fmt.Sprintf("and %d others", len(d.names)-i), "")
			return
		}
		fmt.Fprintf(d, `<rect x="%.1f" y="%.1f" width="10" height="10" fill="%s"/>`, x, y-9, d.colour(i))
		d.text(x+15, y, "start", shortened(name, most-2), "")
	}
}

// columns is the number of places in a line of a legend below the rows, or 0 of a legend to the right of them.
func (d *drawing) columns() int {
	width, _ := d.Size()
	if width >= narrowWidth {
		return 0
	}
	return max((width-right-14)/slotWidth, 1)
}

// mostNames is the number of names in the legend, which takes at most a third of the height below the rows.
func (d *drawing) mostNames() int {
	columns := d.columns()
	if columns == 0 {
		return mostLegend
	}
	_, height := d.Size()
	return min(mostLegend, max(height/3/slotHeight*columns-2, 1)) // two places are for the title and the number of others
}

// slot returns where a place of the legend begins.
func (d *drawing) slot(number int) (x, y float64) {
	columns := d.columns()
	if columns == 0 {
		return d.x1 + 14, d.y0 + 10 + float64(slotHeight*number)
	}
	return 14 + float64(number%columns*slotWidth), d.y1 + bottom + 8 + float64(number/columns*slotHeight)
}

// colour returns the colour with a number.
func (d *drawing) colour(n int) string { return colours[n%len(colours)] }

// colourOf returns the number of the colour of a row.
func (d *drawing) colourOf(row int) int {
	if d.Colour.Name == "" {
		return 0
	}
	return d.number[d.Colour.Texts[row]]
}
