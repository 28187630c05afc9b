package device

import (
	"sync"
	"sync/atomic"
)

// later holds deferred functions.
type later struct {
	// waiting counts the functions that have not returned.
	waiting atomic.Int64
	mu      sync.Mutex
	list    []func()
	// running is held while functions are called, so that a second caller finds them
	// done.
	running sync.Mutex
}

// Later defers f to the next RunLater; see streamwork.Later.
func (w *deviceWork) Later(f func()) {
	w.later.mu.Lock()
	defer w.later.mu.Unlock()
	w.later.list = append(w.later.list, f)
	w.later.waiting.Add(1)
}

// RunLater calls the functions that were passed to Later; see streamwork.RunLater.
func (w *deviceWork) RunLater() {
	if w.later.waiting.Load() > 0 {
		w.later.run()
	}
}

func (l *later) run() {
	l.running.Lock()
	defer l.running.Unlock()
	l.mu.Lock()
	list := l.list
	l.list = nil
	l.mu.Unlock()
	for _, f := range list {
		f()
	}
	l.waiting.Add(-int64(len(list)))
}
