package device

import (
	"context"
	"runtime"
	"time"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// A wait first polls the driver without a pause, because most device work is done within
// microseconds, and the next operation of a query cannot begin before the host has seen the
// end. Then a wait without cancellation sleeps in the driver, which wakes it by an interrupt
// some 20 µs after the end; without blocking events the driver would keep a processor busy
// while the device works. A wait with a context continues to poll, with pauses of a thirty-second
// part of the time waited so far, up to a millisecond. The pause is the maximum delay at the end
// of the wait, and a query on several devices goes on after the last of several such waits. A wait
// of more than a few milliseconds keeps a processor busy for about a hundredth of its time.
//
// Pauses are those of the system, not of Go's timers: if no goroutine runs, Go waits for its
// timers in epoll_wait, by whole milliseconds. On an H100 with 16 processors the queries of
// TPC-H at scale factor 10 lost 0.4 to 1 ms in each of some 170 waits that way.
const (
	polledWithoutPause = 200 * time.Microsecond
	// polledByFew is the same with fewer processors than manyProcessors, of which a wait that polls
	// takes one from other work.
	polledByFew    = 50 * time.Microsecond
	manyProcessors = 8
	// polledWithoutYield are the polls, of about 0.2 µs each, before which the goroutine
	// does not yield: yielding costs a goroutine that is locked to its thread two thread
	// switches, which is longer than most waits for a result.
	polledWithoutYield = 64
	shortestPollPause  = 10 * time.Microsecond
	longestPollPause   = time.Millisecond
	// pausePart is the part of the time waited so far that a pause takes, and pausePartOfFew that
	// with fewer processors than manyProcessors.
	pausePart      = 32
	pausePartOfFew = 8
)

// pollBriefly polls without a pause. It reports whether the wait has ended, by
// completion or by an error.
func pollBriefly(ctx context.Context, done func() (bool, error)) (finished bool, err error) {
	start, most := time.Now(), polledWithoutPause
	if runtime.NumCPU() < manyProcessors {
		most = polledByFew
	}
	for i := 0; i < polledWithoutYield || time.Since(start) < most; i++ {
		if finished, err := done(); finished || err != nil {
			return finished, err
		}
		if ctx.Err() != nil {
			return false, cancel.Error(ctx)
		}
		if i >= polledWithoutYield {
			runtime.Gosched()
		}
	}
	return false, nil
}

// markPolls is how long Mark polls: a device without work reaches an event some microseconds
// after its record.
const markPolls = 20 * time.Microsecond

// pollFor polls without a pause for a short time.
func pollFor(most time.Duration, done func() (bool, error)) (finished bool, err error) {
	for start := time.Now(); ; runtime.Gosched() {
		if finished, err = done(); finished || err != nil || time.Since(start) > most {
			return finished, err
		}
	}
}

func poll(ctx context.Context, done func() (bool, error)) error {
	start := time.Now()
	if finished, err := pollBriefly(ctx, done); finished || err != nil {
		return err
	}
	part := time.Duration(pausePart)
	if runtime.NumCPU() < manyProcessors {
		part = pausePartOfFew
	}
	for {
		pause(min(max(time.Since(start)/part, shortestPollPause), longestPollPause))
		if finished, err := done(); finished || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return cancel.Error(ctx)
		}
	}
}
