package exec

import (
	"context"
	"sync"

	"github.com/gpuframe/gpuframe/internal/cancel"
)

// Turns holds the workers of a query back while it has no turn: between two frames of an
// iteration. The zero value lets them work. Methods of nil do nothing.
type Turns struct {
	mu   sync.Mutex
	held bool
	// working is the number of workers that make a table. changed is closed when it gets zero
	// and when held changes.
	working int
	changed chan struct{}
}

// enter waits until a worker may make a table. One that others wait for may while they work.
func (t *Turns) enter(ctx context.Context) error {
	if t == nil {
		return nil
	}
	for {
		t.mu.Lock()
		if !t.held || t.working > 0 {
			t.working++
			t.mu.Unlock()
			return nil
		}
		changed := t.wait()
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
		t.notify()
	}
}

// Hold lets no worker begin a table, and waits for those that make one.
func (t *Turns) Hold() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.held = true
	for t.working > 0 {
		changed := t.wait()
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
	t.held = false
	t.notify()
}

// wait returns the channel of the next change. The lock is held.
func (t *Turns) wait() <-chan struct{} {
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.changed
}

// notify reports a change. The lock is held.
func (t *Turns) notify() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}
