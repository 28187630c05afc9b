package device

import (
	"context"
	"runtime"
	"time"
)

// A wait that can be cancelled asks the driver again and again: first without a
// pause, for most device work is done within microseconds, then at intervals
// that double up to a millisecond.
const (
	polledWithoutPause = 200
	shortestPollPause  = 10 * time.Microsecond
	longestPollPause   = time.Millisecond
)

func poll(ctx context.Context, done func() (bool, error)) error {
	pause := shortestPollPause
	for attempt := 0; ; attempt++ {
		if finished, err := done(); finished || err != nil {
			return err
		}
		if attempt < polledWithoutPause {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			runtime.Gosched()
			continue
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
		pause = min(2*pause, longestPollPause)
	}
}
