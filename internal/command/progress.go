package command

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/internal/base/pace"
)

// progress is a line on a terminal with the progress of work, once it has taken some time. It
// writes nothing to other writers.
type progress struct {
	w          io.Writer
	work, unit string
	// width is the length of the line at most.
	width int
	now   func() time.Time

	mu           sync.Mutex
	begun, drawn time.Time
	// shown is the length of the line on the terminal.
	shown int
}

const (
	// soon is the time after which work counts as long.
	soon = 500 * time.Millisecond
	// redrawn is the time between two lines at least.
	redrawn = 100 * time.Millisecond
)

// newProgress returns the progress of work that begins now.
func newProgress(w io.Writer, work, unit string) *progress {
	if !isTerminal(w) {
		return newProgressOn(io.Discard, 0, work, unit, time.Now)
	}
	return newProgressOn(w, width(w)-1, work, unit, time.Now)
}

func newProgressOn(w io.Writer, width int, work, unit string, now func() time.Time) *progress {
	return &progress{w: w, work: work, unit: unit, width: width, now: now, begun: now()}
}

// report draws the line, at most ten times a second. A negative total is not known.
func (p *progress) report(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	elapsed := now.Sub(p.begun)
	if elapsed < soon || now.Sub(p.drawn) < redrawn {
		return
	}
	p.drawn = now
	line := p.work + " " + pace.Of(done, total, elapsed).Text(p.unit)
	p.draw(line[:min(len(line), max(p.width, 0))])
}

// draw replaces the line. Failures to draw are no failures of the command.
func (p *progress) draw(line string) {
	_, _ = io.WriteString(p.w, "\r"+line+strings.Repeat(" ", max(0, p.shown-len(line)))+"\r")
	p.shown = len(line)
}

// end removes the line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown > 0 {
		p.draw("")
	}
}
