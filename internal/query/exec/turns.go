package exec

import (
	"context"
	"sync"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// Turns holds the workers of a query back while it has no turn: between two frames of an
// iteration. The zero value lets them work. Methods of nil do nothing.
type Turns struct {
	mu     sync.Mutex
	paused bool
	// working is the number of workers that make a table. changed reports when it gets zero
	// and when paused changes.
	working int
	changed signal
}

// enter waits until a worker may make a table. One that others wait for may while they work.
func (t *Turns) enter(ctx context.Context) error {
	if t == nil {
		return nil
	}
	for {
		t.mu.Lock()
		if !t.paused || t.working > 0 {
			t.working++
			t.mu.Unlock()
			return nil
		}
		changed := t.changed.next()
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return cancel.Error(ctx)
		}
	}
}

// leave undoes enter.
func (t *Turns) leave() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.working--; t.working == 0 {
		t.changed.notify()
	}
}

// outside calls wait for a worker that makes a table, which does not count as working meanwhile:
// what it waits for may be work that begins after [Turns.Resume].
func (t *Turns) outside(ctx context.Context, wait func() error) error {
	if t == nil {
		return wait()
	}
	t.leave()
	err := wait()
	if err == nil {
		err = t.enter(ctx)
	}
	if err != nil {
		t.mu.Lock()
		t.working++ // the caller leaves
		t.mu.Unlock()
	}
	return err
}

// Hold lets no worker begin a table, and waits for those that make one.
func (t *Turns) Hold() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.paused = true
	for t.working > 0 {
		changed := t.changed.next()
		t.mu.Unlock()
		<-changed
		t.mu.Lock()
	}
	t.mu.Unlock()
}

// Resume undoes Hold.
func (t *Turns) Resume() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paused = false
	t.changed.notify()
}
