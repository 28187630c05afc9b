package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows the progress of work if w is a terminal. A negative total is not known.
func progress(w io.Writer, total int64, work, unit string) *progressbar.ProgressBar {
	if !isTerminal(w) {
		w = io.Discard
	}
	return progressbar.NewOptions64(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(work),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit),
		progressbar.OptionThrottle(50*time.Millisecond), progressbar.OptionClearOnFinish())
}

// soon is the time after which work counts as long.
const soon = 500 * time.Millisecond

// reading shows the rows that a query has read, once it has taken some time.
type reading struct {
	w     io.Writer
	begun time.Time
	bar   *progressbar.ProgressBar
}

// report is called with the rows that were read, and the rows there are or -1.
func (r *reading) report(rows, of int64) {
	if r.bar == nil {
		if time.Since(r.begun) < soon {
			return
		}
		r.bar = progress(r.w, of, "reading", "rows")
	}
	if of >= 0 && of != r.bar.GetMax64() {
		r.bar.ChangeMax64(of)
	}
	_ = r.bar.Set64(rows) // a bar that cannot be drawn is no failure of the command
}

// end removes the bar.
func (r *reading) end() {
	if r.bar != nil {
		_ = r.bar.Clear()
	}
}
