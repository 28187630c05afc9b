package share

import "time"

// clock starts timers. Tests have one that they move on themselves.
type clock interface {
	// AfterFunc calls f after a time, on a goroutine of its own. The function that it
	// returns stops the timer, and reports whether it did so in time.
	AfterFunc(after time.Duration, f func()) (stop func() bool)
}

// systemClock is the clock outside of tests.
type systemClock struct{}

func (systemClock) AfterFunc(after time.Duration, f func()) func() bool {
	return time.AfterFunc(after, f).Stop
}

// after returns a channel that is closed after a time, and what stops the timer.
func after(c clock, d time.Duration) (<-chan struct{}, func() bool) {
	done := make(chan struct{})
	return done, c.AfterFunc(d, func() { close(done) })
}
