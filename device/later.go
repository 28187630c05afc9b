package device

import (
	"sync"
	"sync/atomic"
)

// later holds what could not be done when it came up.
type later struct {
	// waiting counts the functions that have not returned.
	waiting atomic.Int64
	mu      sync.Mutex
	list    []func()
	// running is held while functions are called, so that who comes second finds
	// them done.
	running sync.Mutex
}

// Later has f called by the next [Device.RunLater]. It makes no call of the driver
// and does not wait. It is for what other libraries call at moments of their own
// choice, such as the deleter of a tensor: a Python program may run one in the middle
// of a graph capture, which many calls of the driver would break.
func (d *Device) Later(f func()) {
	d.later.mu.Lock()
	defer d.later.mu.Unlock()
	d.later.list = append(d.later.list, f)
	d.later.waiting.Add(1)
}

// RunLater calls what was handed to [Device.Later] and returns when it is done.
// Package memory does so before it allocates. With nothing to do it costs an atomic
// read. The functions must not call RunLater.
func (d *Device) RunLater() {
	if d.later.waiting.Load() > 0 {
		d.later.run()
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
