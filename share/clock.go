package share

import "time"

// clock starts timers. Tests replace it by one that they advance.
type clock interface {
	// AfterFunc calls f on a new goroutine after a duration. The returned function stops
	// the timer and reports whether it did so before f was called.
	AfterFunc(after time.Duration, f func()) (stop func() bool)
}

// systemClock is the clock outside tests.
type systemClock struct{}

func (systemClock) AfterFunc(after time.Duration, f func()) func() bool {
	return time.AfterFunc(after, f).Stop
}

// after returns a channel that is closed after a duration, and a function that stops the
// timer.
func after(c clock, d time.Duration) (<-chan struct{}, func() bool) {
	done := make(chan struct{})
	return done, c.AfterFunc(d, func() { close(done) })
}
