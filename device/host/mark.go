package host

import (
	"sync"
	"time"
)

// mark is one point in the work of a stream, for which the record of an event or a
// synchronisation waits. It is reached once.
type mark struct {
	mu      sync.Mutex
	reached bool
	at      time.Time
	waiting []func()
}

// reach records that all work before the mark is done and resumes the waiters. Their
// functions are short: they start goroutines or close channels.
func (m *mark) reach() {
	for _, resume := range m.set() {
		resume()
	}
}

// set records that all work before the mark is done and returns the waiters.
func (m *mark) set() (waiting []func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reached = true
	m.at = time.Now()
	waiting, m.waiting = m.waiting, nil
	return waiting
}

// park registers resume for the time when the mark is reached. It returns false and
// does not register resume if the mark is already reached.
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
