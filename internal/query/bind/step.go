package bind

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
)

// Step is one verb of a query. Only its plan changes.
type Step struct {
	// planner prepares the query.
	planner *Planner
	verb    Verb
	// at is the place of the verb's call.
	at uintptr
	// place is named instead of the verb and at, if it is set.
	place  *Place
	inputs []*Step
	// source is that of a step without inputs.
	source source.Source
	// store keeps the rows of a Cache.
	store *exec.Store
	// Prepared is the plan that this step was last bound to.
	Prepared Preparation
}

// Verb is the operation of a step on the rows of its inputs.
type Verb struct {
	name string
	// arguments are those by which plans are kept. Plans of verbs without them, which are nil, are not.
	arguments arguments
	// bind makes the plan's nodes on those of the inputs. It reports problems to the binder, and returns
	// nil if later verbs cannot be checked.
	bind func(b *binder, inputs []plan.Node) plan.Node
}

// NewStep makes a step of a verb that is called at a place.
func NewStep(verb Verb, at uintptr, inputs ...*Step) *Step {
	return &Step{planner: inputs[0].planner, verb: verb, at: at, inputs: inputs}
}

// NewScan makes the step of a source, or of a source that was not opened.
func NewScan(planner *Planner, name string, at uintptr, opened source.Source, failure error) *Step {
	bind := func(b *binder, _ []plan.Node) plan.Node {
		n, err := b.scan(opened, failure)
		if err != nil {
			b.report(err)
			return nil
		}
		return n
	}
	return &Step{planner: planner, verb: Verb{name: name, bind: bind}, at: at, source: opened}
}

func (b *binder) scan(opened source.Source, failure error) (plan.Node, error) {
	if failure != nil {
		return nil, failure
	}
	read := b.standIn(opened)
	about, ok := b.described[opened]
	if !ok {
		about = source.Describe(b.ctx, read)
	}
	if about.Err != nil {
		return nil, about.Err
	}
	return node(plan.NewScan(read, about.Schema, about.Rows, about.Exact))
}

// node returns a node as the interface, nil for an error.
func node[N plan.Node](n N, err error) (plan.Node, error) {
	if err != nil {
		return nil, err
	}
	return n, nil
}

// Place is a place in a program that problems name.
type Place struct {
	Verb, File string
	Line       int
}

// At returns a step with another place.
func (s *Step) At(place Place) *Step {
	moved := &Step{planner: s.planner, verb: s.verb, place: &place, inputs: s.inputs, source: s.source, store: s.store}
	if moved.store != nil {
		moved.store.SetTag(moved.Origin)
	}
	return moved
}

// Place returns the verb and the place of its call.
func (s *Step) Place() Place {
	p := Place{Verb: s.verb.name}
	if s.place != nil {
		p = *s.place
		p.Verb = cmp.Or(p.Verb, s.verb.name)
	} else if s.at != 0 {
		frame, _ := runtime.CallersFrames([]uintptr{s.at}).Next()
		p.File, p.Line = frame.File, frame.Line
	}
	return p
}

// Origin names the call that made the step: "Filter (report.go:12)".
func (s *Step) Origin() string {
	p := s.Place()
	if p.File == "" {
		return p.Verb
	}
	return fmt.Sprintf("%s (%s:%d)", p.Verb, filepath.Base(p.File), p.Line)
}

// Problem is one thing that is wrong with a query.
type Problem struct {
	Place
	Err error
}

// Problems are all that is wrong with a query.
type Problems []Problem

// Error lists the problems.
func (p Problems) Error() string {
	texts := make([]string, len(p))
	for i, problem := range p {
		texts[i] = problem.Verb + ": " + problem.Err.Error()
	}
	return strings.Join(texts, "\n")
}

// errNoSource is the problem of a query without a step.
var errNoSource = errors.New("the zero Query has no source: begin with a method of an Engine")

// IsFixed reports whether all sources of the query have the same columns at each run.
func (s *Step) IsFixed() bool {
	return !slices.ContainsFunc(s.sources(), func(each source.Source) bool { return each == nil || !source.IsFixed(each) })
}
