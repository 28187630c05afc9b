package device

import (
	"context"
	"runtime"
	"time"

	"github.com/gpuframe/gpuframe/internal/cancel"
)

// A wait asks the driver first, without a pause: most device work is done within
// microseconds. After that a wait that cannot be given up sleeps in the driver, which
// wakes it by an interrupt some 20 µs after the end; without blocking events the
// driver would keep a processor busy for as long as the device works. A wait with a
// context goes on asking, with pauses of an eighth of the time that was waited so far,
// up to a millisecond: that is how late it may end, and a processor is busy for less
// than a hundredth of a long wait.
const (
	polledWithoutPause = 200
	shortestPollPause  = 10 * time.Microsecond
	longestPollPause   = time.Millisecond
	pausePart          = 8
)

// pollBriefly asks without a pause. It reports whether the answer is known.
func pollBriefly(ctx context.Context, done func() (bool, error)) (finished bool, err error) {
	for range polledWithoutPause {
		if finished, err := done(); finished || err != nil {
			return finished, err
		}
		if ctx.Err() != nil {
			return false, cancel.Error(ctx)
		}
		runtime.Gosched()
	}
	return false, nil
}

func poll(ctx context.Context, done func() (bool, error)) error {
	if finished, err := pollBriefly(ctx, done); finished || err != nil {
		return err
	}
	start := time.Now()
	timer := time.NewTimer(shortestPollPause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return cancel.Error(ctx)
		case <-timer.C:
		}
		if finished, err := done(); finished || err != nil {
			return err
		}
		timer.Reset(min(max(time.Since(start)/pausePart, shortestPollPause), longestPollPause))
	}
}
