// Package explore runs a few goroutines in every order in which their steps can
// interleave.
//
// The code under test calls [World.Step] at its interesting points, through a hook that
// is nil outside of tests. The caller of Step holds no lock. Between two such points
// one goroutine runs alone, so the order in which goroutines continue determines a run.
// [Run] tries all orders, depth first. After every step it calls System.Check. It
// reports goroutines that wait without end.
//
// Two runs that reach the same state continue in the same way, so the second one ends
// there. A state is the result of System.State together with the points that every
// goroutine has passed.
package explore

import (
	"errors"
	"fmt"
	"hash/fnv"
	"runtime"
	"slices"
	"strings"
)

// System is the system to explore, built again for each run.
type System struct {
	// Actors run concurrently.
	Actors []Actor
	// Check is called after each step, while every actor is stopped.
	Check func() error
	// State describes everything that determines the next steps, except the actors'
	// positions. A nil State explores all orders, even those that lead to the same
	// state.
	State func() string
	// End is called when every actor has ended. Close is called after every run, even
	// one that was given up. Both may be nil.
	End   func() error
	Close func()
}

// Actor is a goroutine of a system.
type Actor struct {
	Name string
	Run  func()
}

// World is one run. Actors, and the code they call, call its methods.
type World struct {
	actors  []*actor
	current *actor
	// parked receives when the current actor stops or ends.
	parked    chan struct{}
	abandoned bool
}

type actor struct {
	Actor
	resume chan struct{}
	// point is the actor's position; ready reports whether it can continue.
	point string
	ready func() bool
	ended bool
	// passed are the points that it has passed.
	passed []string
}

// Step stops the calling actor until the explorer continues it. If ready is not nil,
// the explorer does not continue the actor while ready returns false. The actor's
// position is the sequence of its points.
func (w *World) Step(point string, ready func() bool) {
	a := w.current
	if a == nil || w.abandoned {
		return // the system is being built, or closed
	}
	a.point, a.ready = point, ready
	a.passed = append(a.passed, point)
	w.parked <- struct{}{}
	<-a.resume
	if w.abandoned {
		runtime.Goexit()
	}
}

// Result counts the explored runs and states.
type Result struct {
	// Runs is the number of runs, Ended of those that ran to the end; the others
	// reached a known state. States is the number of different states.
	Runs, Ended, States int
}

// Fault is an order of steps that leads to an error.
type Fault struct {
	// Steps are the actors in the order in which they continued, each with the point at
	// which it was stopped.
	Steps []string
	Err   error
}

// Error formats the cause and the steps.
func (f *Fault) Error() string {
	return fmt.Sprintf("%v\nafter\n\t%s", f.Err, strings.Join(f.Steps, "\n\t"))
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// choice is the choice of one of the actors that are able to continue.
type choice struct{ taken, able int }

// ErrNotDeterministic is wrapped by the error of a system that continues differently after
// the same steps.
var ErrNotDeterministic = errors.New("the system is not deterministic")

// Run explores the system that build returns. It returns the first [Fault], or an error
// after more than most runs.
func Run(most int, build func(w *World) System) (Result, error) {
	var result Result
	seen := make(map[string]bool)
	var path []choice
	for {
		if result.Runs++; result.Runs > most {
			return result, fmt.Errorf("explore: more than %d runs; the system is too large", most)
		}
		r := &run{world: &World{parked: make(chan struct{})}, seen: seen, path: path}
		r.system = build(r.world)
		ended, err := r.follow()
		r.close()
		result.States = len(seen)
		if ended {
			result.Ended++
		}
		if err != nil {
			return result, &Fault{Steps: r.steps, Err: err}
		}
		path = r.path
		for len(path) > 0 && path[len(path)-1].taken == path[len(path)-1].able-1 {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return result, nil
		}
		path[len(path)-1].taken++
	}
}

// run is one path through the system. It follows the given path first and then extends
// it.
type run struct {
	world  *World
	system System
	seen   map[string]bool
	path   []choice
	steps  []string
}

func (r *run) follow() (ended bool, err error) {
	w := r.world
	for _, each := range r.system.Actors {
		a := &actor{Actor: each, resume: make(chan struct{}), point: "begin"}
		w.actors = append(w.actors, a)
		go func() {
			defer func() {
				a.ended = true
				w.parked <- struct{}{}
			}()
			<-a.resume
			if !w.abandoned {
				a.Run()
			}
		}()
	}
	planned := len(r.path)
	for depth := 0; ; depth++ {
		able := r.able()
		if len(able) == 0 {
			return r.atEnd()
		}
		if depth == len(r.path) {
			r.path = append(r.path, choice{0, len(able)})
		}
		if r.path[depth].able != len(able) {
			return false, fmt.Errorf("explore: %d actors can continue, but %d could in an earlier run with the same steps: %w", len(able), r.path[depth].able, ErrNotDeterministic)
		}
		a := able[r.path[depth].taken]
		r.steps = append(r.steps, a.Name+" from "+a.point)
		r.let(a)
		if err := r.system.Check(); err != nil {
			return false, err
		}
		// The last given choice is new; those before it are known.
		if depth >= planned-1 && r.known() {
			r.path = r.path[:depth+1]
			return false, nil
		}
	}
}

func (r *run) able() []*actor {
	return slices.DeleteFunc(slices.Clone(r.world.actors), func(a *actor) bool { return a.ended || a.ready != nil && !a.ready() })
}

// let continues an actor until it stops again or ends.
func (r *run) let(a *actor) {
	r.world.current = a
	a.ready = nil
	a.resume <- struct{}{}
	<-r.world.parked
	r.world.current = nil
}

func (r *run) atEnd() (ended bool, err error) {
	var waiting []string
	for _, a := range r.world.actors {
		if !a.ended {
			waiting = append(waiting, a.Name+" at "+a.point)
		}
	}
	if len(waiting) > 0 {
		return false, fmt.Errorf("explore: no actor can continue: %s", strings.Join(waiting, ", "))
	}
	if r.system.End != nil {
		return true, r.system.End()
	}
	return true, nil
}

// known reports whether the state was reached before.
func (r *run) known() bool {
	if r.system.State == nil {
		return false
	}
	hash := fnv.New128a()
	for _, a := range r.world.actors {
		fmt.Fprintf(hash, "%q %t;", a.passed, a.ended)
	}
	state := string(hash.Sum([]byte(r.system.State())))
	if r.seen[state] {
		return true
	}
	r.seen[state] = true
	return false
}

// close ends the actors that have not ended.
func (r *run) close() {
	r.world.abandoned = true
	for _, a := range r.world.actors {
		if !a.ended {
			a.resume <- struct{}{}
			<-r.world.parked
		}
	}
	if r.system.Close != nil {
		r.system.Close()
	}
}
