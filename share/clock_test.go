package share

import (
	"sync"
	"testing"
	"time"

	"github.com/gpuframe/gpuframe/internal/testing/await"
)

// handClock is a clock with timers that end when a test ends them.
type handClock struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each new timer
	timers  map[*handTimer]struct{}
	started map[time.Duration]int
}

type handTimer struct {
	after time.Duration
	f     func()
}

func newHandClock() *handClock {
	return &handClock{changed: make(chan struct{}), timers: make(map[*handTimer]struct{}), started: make(map[time.Duration]int)}
}

func (c *handClock) AfterFunc(after time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	timer := &handTimer{after, f}
	c.timers[timer] = struct{}{}
	c.started[after]++
	close(c.changed)
	c.changed = make(chan struct{})
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, running := c.timers[timer]
		delete(c.timers, timer)
		return running
	}
}

// await waits until a timer of that length runs.
func (c *handClock) await(t *testing.T, after time.Duration) *handTimer {
	t.Helper()
	for {
		c.mu.Lock()
		changed := c.changed
		for timer := range c.timers {
			if timer.after == after {
				c.mu.Unlock()
				return timer
			}
		}
		c.mu.Unlock()
		select {
		case <-changed:
		case <-time.After(await.Limit):
			t.Fatalf("no timer of %v was started", after)
		}
	}
}

// end waits for a timer of that duration and ends it.
func (c *handClock) end(t *testing.T, after time.Duration) {
	t.Helper()
	timer := c.await(t, after)
	c.mu.Lock()
	_, running := c.timers[timer]
	delete(c.timers, timer)
	c.mu.Unlock()
	if !running {
		t.Fatalf("the timer of %v was stopped", after)
	}
	timer.f()
}

// count returns how many timers of that length were started.
func (c *handClock) count(after time.Duration) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started[after]
}
