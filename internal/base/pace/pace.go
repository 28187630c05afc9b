// Package pace computes the rate of work and the time that is left.
package pace

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

// Pace is the progress of work with its rate.
type Pace struct {
	// Rows is the number of rows that were read, and OfRows the number of all rows, or negative if it is not known.
	Rows, OfRows int64
	// Elapsed is the time since the begin.
	Elapsed time.Duration
	// PerSecond is the number of rows read in a second, on average since the begin.
	PerSecond float64
	// Left is the time that the other rows take at this rate, or negative if it is not known.
	Left time.Duration
}

// Of returns the pace of work that has taken some time.
func Of(rows, ofRows int64, elapsed time.Duration) Pace {
	p := Pace{Rows: rows, OfRows: ofRows, Elapsed: elapsed, Left: -1}
	if elapsed <= 0 {
		return p
	}
	p.PerSecond = float64(rows) / elapsed.Seconds()
	if rows <= 0 || ofRows < rows {
		return p
	}
	const longest = 1000 * 24 * time.Hour
	if left := float64(ofRows-rows) / float64(rows) * float64(elapsed); left <= float64(longest) {
		p.Left = time.Duration(left)
	}
	return p
}

// String formats the pace of rows: 1,200 of 5,000 rows (24 %), 600 a second, 7s left.
func (p Pace) String() string { return p.Text("rows") }

// Text formats the pace of a unit.
func (p Pace) Text(unit string) string {
	text := humanize.Comma(p.Rows)
	if p.OfRows >= 0 {
		text += " of " + humanize.Comma(p.OfRows)
	}
	text += " " + unit
	if p.OfRows > 0 && p.Rows <= p.OfRows {
		text += fmt.Sprintf(" (%d %%)", int64(100*(float64(p.Rows)/float64(p.OfRows))))
	}
	text += fmt.Sprintf(", %s a second", humanize.Comma(int64(p.PerSecond)))
	if p.Left >= 0 {
		text += fmt.Sprintf(", %v left", max(p.Left.Round(time.Second), 0))
	}
	return text
}
