package chart

import (
	"fmt"
	"math"
	"slices"
)

// marks draws the rows.
func (d *drawing) marks() {
	switch d.Mark {
	case Line:
		d.lines()
	case Point:
		d.points()
	case Histogram:
		for row := range d.rows() {
			if d.drawn(row) {
				begin, end := d.x.place(d.X.Numbers[row]), d.x.place(d.X.Numbers[row]+d.Step)
				d.bar(begin, end-begin-1, 0, d.Y.Numbers[row], row)
			}
		}
	case Bar:
		d.bars()
	}
}

// at returns the place of a row on the horizontal axis.
func (d *drawing) at(row int) float64 {
	if d.X.Kind == Text {
		return d.x.ofText(d.X.Texts[row])
	}
	return d.x.place(d.X.Numbers[row])
}

// lines draws a line for each colour, in the order of the horizontal axis.
func (d *drawing) lines() {
	rows := make([][]int, max(len(d.names), 1))
	for row := range d.rows() {
		if d.drawn(row) {
			n := d.colourOf(row)
			rows[n] = append(rows[n], row)
		}
	}
	for n, list := range rows {
		slices.SortStableFunc(list, func(a, b int) int {
			switch x, y := d.at(a), d.at(b); {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
		for i, row := range list {
			if i == 0 {
				fmt.Fprintf(d, `<path fill="none" stroke-width="1.5" stroke="%s" d="M`, d.colour(n))
			} else {
				d.WriteString("L")
			}
			fmt.Fprintf(d, "%.1f %.1f", d.at(row), d.y.place(d.Y.Numbers[row]))
		}
		if len(list) > 0 {
			d.WriteString(`"/>`)
		}
	}
}

func (d *drawing) points() {
	for row := range d.rows() {
		if d.drawn(row) {
			fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s" fill-opacity=".7"><title>%s</title></circle>`,
				d.at(row), d.y.place(d.Y.Numbers[row]), d.colour(d.colourOf(row)), escaped(d.rowText(row)))
		}
	}
}

// bars draws bars, on top of each other if they have one place.
func (d *drawing) bars() {
	width := 4.0
	if d.X.Kind == Text {
		width = math.Max(d.x.band()*0.8, 1)
	}
	d.stack(func(row int, from, to float64) { d.bar(d.at(row)-width/2, width, from, to, row) })
}

// stack calls a function with the ends of each bar. Positive values are above each other, negative ones below.
func (d *drawing) stack(bar func(row int, from, to float64)) {
	type end struct {
		text     string
		number   float64
		negative bool
	}
	ends := map[end]float64{}
	for row := range d.rows() {
		if !d.drawn(row) {
			continue
		}
		value := d.Y.Numbers[row]
		key := end{negative: value < 0}
		if d.X.Kind == Text {
			key.text = d.X.Texts[row]
		} else {
			key.number = d.X.Numbers[row]
		}
		from := ends[key]
		ends[key] = from + value
		bar(row, from, from+value)
	}
}

// stackEnds returns the least and the greatest end of the bars.
func (d *drawing) stackEnds() (low, high float64) {
	d.stack(func(_ int, _, to float64) { low, high = math.Min(low, to), math.Max(high, to) })
	return low, high
}

// bar draws a bar from one value to another.
func (d *drawing) bar(x, width, from, to float64, row int) {
	a, b := d.y.place(from), d.y.place(to)
	fmt.Fprintf(d, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s</title></rect>`,
		x, math.Min(a, b), math.Max(width, 0.5), math.Abs(a-b), d.colour(d.colourOf(row)), escaped(d.rowText(row)))
}

// rowText is the text that a browser shows above a mark.
func (d *drawing) rowText(row int) string {
	text := fmt.Sprintf("%s: %v, %s: %v", d.X.Name, d.X.value(row), d.Y.Name, d.Y.value(row))
	if d.Colour.Name != "" {
		text += fmt.Sprintf(", %s: %s", d.Colour.Name, d.Colour.Texts[row])
	}
	return text
}
