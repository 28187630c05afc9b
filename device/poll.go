package device

import (
	"context"
	"runtime"
	"time"

	"github.com/gpuframe/gpuframe/internal/cancel"
)

// A wait first polls the driver without a pause, because most device work is done
// within microseconds. Then a wait without cancellation sleeps in the driver, which
// wakes it by an interrupt some 20 µs after the end; without blocking events the driver
// would keep a processor busy while the device works. A wait with a context continues
// to poll, with pauses of an eighth of the time waited so far, up to a millisecond. The
// pause is the maximum delay at the end of the wait. A long wait keeps a processor busy
// for less than a hundredth of its time.
const (
	polledWithoutPause = 200
	// polledWithoutYield are the polls, of about 0.2 µs each, before which the goroutine
	// does not yield: yielding costs a goroutine that is locked to its thread two thread
	// switches, which is longer than most waits for a result.
	polledWithoutYield = 64
	shortestPollPause  = 10 * time.Microsecond
	longestPollPause   = time.Millisecond
	pausePart          = 8
)

// pollBriefly polls without a pause. It reports whether the wait has ended, by
// completion or by an error.
func pollBriefly(ctx context.Context, done func() (bool, error)) (finished bool, err error) {
	for i := range polledWithoutPause {
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
