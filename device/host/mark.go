package host

import (
	"sync"
	"time"
)

// mark is one point in the work of a stream: what an event's record, or a
// synchronisation, waits for. It is reached once.
type mark struct {
	mu      sync.Mutex
	reached bool
	at      time.Time
	waiting []func()
}

// reach says that all work before the mark is done, and resumes who waits. The
// functions that wait are short: they start goroutines or close channels.
func (m *mark) reach() {
	for _, resume := range m.set() {
		resume()
	}
}

// set says that all work before the mark is done, and returns who waits.
func (m *mark) set() (waiting []func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reached = true
	m.at = time.Now()
	waiting, m.waiting = m.waiting, nil
	return waiting
}

// park has resume called when the mark is reached. It returns false, and will
// not call resume, where that has happened already.
func (m *mark) park(resume func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reached {
		return false
	}
	m.waiting = append(m.waiting, resume)
	return true
}

// wait blocks the calling goroutine until the mark is reached.
func (m *mark) wait() {
	done := make(chan struct{})
	if m.park(func() { close(done) }) {
		<-done
	}
}

// when returns the time at which the mark was reached, or false before that.
func (m *mark) when() (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at, m.reached
}
