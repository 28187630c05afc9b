package runner

import (
	"math"
	"time"
)

// Cost is the time of a question.
type Cost struct {
	// Wall is the time of the clock, Processors that of all processors.
	Wall, Processors time.Duration
}

// Most is above each cost.
var Most = Cost{1 << 62, 1 << 62}

// Least returns the least of both times.
func (c Cost) Least(other Cost) Cost {
	return Cost{min(c.Wall, other.Wall), min(c.Processors, other.Processors)}
}

// Milliseconds returns a duration in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// Pair is the costs of both sides.
type Pair struct{ Ours, Theirs Cost }

// Wall returns our time as a multiple of theirs.
func (p Pair) Wall() float64 { return float64(p.Ours.Wall) / float64(max(p.Theirs.Wall, 1)) }

// Processors returns our processor time as a multiple of theirs.
func (p Pair) Processors() float64 {
	return float64(p.Ours.Processors) / float64(max(p.Theirs.Processors, 1))
}

// Totals are the sums and the geometric means of the costs of questions.
type Totals struct {
	Pair
	// Equal is the number of equal answers.
	Questions, Equal, Lines, Clauses int

	logWall, logProcessors float64
}

// Add adds a question with equal answers.
func (t *Totals) Add(p Pair) {
	t.Equal++
	t.Ours.Wall, t.Ours.Processors = t.Ours.Wall+p.Ours.Wall, t.Ours.Processors+p.Ours.Processors
	t.Theirs.Wall, t.Theirs.Processors = t.Theirs.Wall+p.Theirs.Wall, t.Theirs.Processors+p.Theirs.Processors
	t.logWall, t.logProcessors = t.logWall+math.Log(p.Wall()), t.logProcessors+math.Log(p.Processors())
}

// Means returns the geometric means of the ratios.
func (t *Totals) Means() (wall, processors float64) {
	n := float64(max(t.Equal, 1))
	return math.Exp(t.logWall / n), math.Exp(t.logProcessors / n)
}
