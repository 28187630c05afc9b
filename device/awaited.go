package device

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/internal/driver/streamwork/hook"
)

// waiting are the queues of all devices whose goroutine runs.
var waiting struct {
	sync.Mutex
	queues map[*awaited]bool
}

// awaited holds functions that run when an event is reached. One goroutine waits for the
// events in turn and ends with the last one: a wait occupies a thread.
type awaited struct {
	mu      sync.Mutex
	list    []awaitedCall
	running bool
	// idle is signalled when the goroutine ends.
	idle sync.Cond
}

type awaitedCall struct {
	event *Event
	call  func(error)
}

// WhenDone calls a function when an event is reached; see streamwork.WhenDone.
func (w *deviceWork) WhenDone(event *Event, call func(error)) {
	a := &w.awaited
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, awaitedCall{event, call})
	if !a.running {
		a.setRunning(true)
		go a.run()
	}
}

func (a *awaited) setRunning(running bool) {
	a.running = running
	waiting.Lock()
	defer waiting.Unlock()
	if !running {
		delete(waiting.queues, a)
		return
	}
	if waiting.queues == nil {
		waiting.queues = map[*awaited]bool{}
	}
	waiting.queues[a] = true
}

// AwaitDone waits for the functions that were passed to WhenDone; see
// streamwork.AwaitDone.
func (w *deviceWork) AwaitDone() { w.awaited.await() }

// AwaitAllDone waits for the functions of all devices; see streamwork.AwaitAllDone.
func AwaitAllDone(hook.Key) {
	waiting.Lock()
	queues := slices.Collect(maps.Keys(waiting.queues))
	waiting.Unlock()
	for _, a := range queues {
		a.await()
	}
}

func (a *awaited) await() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.running {
		a.idle.Wait()
	}
}

func (a *awaited) run() {
	for {
		a.mu.Lock()
		list := a.list
		a.list = nil
		if len(list) == 0 {
			a.setRunning(false)
			a.idle.Broadcast()
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
		for _, next := range list {
			next.call(next.event.Wait(context.Background()))
		}
	}
}
