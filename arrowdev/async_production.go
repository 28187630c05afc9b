package arrowdev

import (
	"context"
	"math"
	"sync"

	"github.com/gpuframe/gpuframe/internal/cancel"
)

// production is what the consumer of an asynchronous export has asked for. The
// consumer changes it from any thread; the exporting goroutine waits on it, and
// holds its lock during none of the handler's callbacks.
type production struct {
	stop context.CancelFunc // ends what the reader waits for
	wake chan struct{}      // holds a token after a change

	mu sync.Mutex
	// wanted are the tasks that were requested and not delivered.
	wanted    int64
	cancelled bool
	finished  bool
	failed    error
}

// Request is the producer's request.
func (p *production) Request(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.cancelled || p.finished:
		return
	case n <= 0:
		p.end(faulty("ArrowAsyncProducer.request", "%d tasks were asked for: %w", n, ErrInvalid))
	case p.wanted > math.MaxInt64-n:
		p.wanted = math.MaxInt64
	default:
		p.wanted += n
	}
	p.signal()
}

// Cancel is the producer's cancel.
func (p *production) Cancel() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cancelled = true
	p.stop()
	p.signal()
}

// fail ends the stream with an error that came up elsewhere.
func (p *production) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(err)
	p.signal()
}

func (p *production) end(err error) {
	if p.failed == nil {
		p.failed = err
	}
	p.stop()
}

func (p *production) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// await waits until a task is wanted. It returns false, and the reason, where the
// stream is over; a cancel is no error.
func (p *production) await(ctx context.Context) (more bool, err error) {
	for {
		// Whoever stops the context says why first; it is looked at in this order.
		stopped := cancel.Error(ctx)
		p.mu.Lock()
		wanted, cancelled, failed := p.wanted > 0, p.cancelled, p.failed
		p.mu.Unlock()
		switch {
		case cancelled:
			return false, nil
		case failed != nil:
			return false, failed
		case stopped != nil:
			return false, stopped
		case wanted:
			return true, nil
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
		}
	}
}

// delivering counts a task that is about to be delivered.
func (p *production) delivering() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted--
}

// finish makes what the consumer still asks for harmless.
func (p *production) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = true
}
