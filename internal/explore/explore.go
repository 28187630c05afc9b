// Package explore runs a few goroutines in every order in which their steps can be
// interleaved.
//
// The code under test calls [World.Step] at its interesting points, through a hook
// that is nil outside of tests. No lock is held there. Between two such points a
// goroutine runs alone, so a run is determined by the order in which the goroutines
// are let go on. [Run] tries all orders, depth first. After every step it calls
// System.Check, and it reports goroutines that wait for ever.
//
// Two runs that reach the same state continue in the same way, so the second one
// ends there. A state is what System.State returns together with the points that
// every goroutine has passed.
package explore

import (
	"fmt"
	"hash/fnv"
	"runtime"
	"slices"
	"strings"
)

// System is what is explored: a fresh one for each run.
type System struct {
	// Actors run concurrently.
	Actors []Actor
	// Check is called after each step, while every actor stands still.
	Check func() error
	// State describes everything that decides what happens next, besides how far
	// the actors have come. A nil State explores all orders, even those that lead
	// to the same state.
	State func() string
	// End is called when every actor has ended, Close after every run, also after
	// one that was given up. Both may be nil.
	End   func() error
	Close func()
}

// Actor is a goroutine of a system.
type Actor struct {
	Name string
	Run  func()
}

// World is one run. Its methods are called by the actors and what they call.
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
	// point is where the actor stands, ready whether it could go on.
	point string
	ready func() bool
	ended bool
	// passed are the points that it has been at.
	passed []string
}

// Step stops the actor that calls it until it is let go on. If ready is not nil,
// it is not let go on while that returns false. The actor's position is the
// sequence of its points.
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

// Result says how much was explored.
type Result struct {
	// Runs were begun, Ended of them came to their end; the others reached a state
	// that was known. States are different states.
	Runs, Ended, States int
}

// Fault is an order of steps that leads to an error.
type Fault struct {
	// Steps are the actors in the order in which they were let go on, each with
	// the point that it stood at.
	Steps []string
	Err   error
}

// Error names the cause and the steps.
func (f *Fault) Error() string {
	return fmt.Sprintf("%v\nafter\n\t%s", f.Err, strings.Join(f.Steps, "\n\t"))
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// choice is one of several actors that can go on.
type choice struct{ taken, of int }

// Run explores the system that build makes. It returns the first [Fault], or an
// error after more runs than most.
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
		for len(path) > 0 && path[len(path)-1].taken == path[len(path)-1].of-1 {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return result, nil
		}
		path[len(path)-1].taken++
	}
}

// run is one path through the system. The path it is given is followed first, and
// then extended.
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
	given := len(r.path)
	for depth := 0; ; depth++ {
		able := r.able()
		if len(able) == 0 {
			return r.atEnd()
		}
		if depth == len(r.path) {
			r.path = append(r.path, choice{0, len(able)})
		}
		if r.path[depth].of != len(able) {
			return false, fmt.Errorf("explore: %d actors can go on where there were %d before: the system is not deterministic", len(able), r.path[depth].of)
		}
		a := able[r.path[depth].taken]
		r.steps = append(r.steps, a.Name+" from "+a.point)
		r.let(a)
		if err := r.system.Check(); err != nil {
			return false, err
		}
		// The last choice that was given is new, those before it are known.
		if depth >= given-1 && r.known() {
			r.path = r.path[:depth+1]
			return false, nil
		}
	}
}

func (r *run) able() []*actor {
	return slices.DeleteFunc(slices.Clone(r.world.actors), func(a *actor) bool { return a.ended || a.ready != nil && !a.ready() })
}

// let lets an actor go on until it stops again or ends.
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
		return false, fmt.Errorf("explore: nobody can go on: %s", strings.Join(waiting, ", "))
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
