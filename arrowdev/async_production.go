package arrowdev

import (
	"context"
	"math"
	"sync"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// production is the demand of the consumer of an asynchronous export. The consumer
// changes it on any thread, and the exporting goroutine waits for changes. No
// callback of the handler runs with the lock held.
type production struct {
	stop context.CancelFunc // ends the waits of the reader
	wake chan struct{}      // holds a token after a change

	mu sync.Mutex
	// wanted counts the requested tasks that have not been delivered.
	wanted    int64
	cancelled bool
	finished  bool
	failed    error
}

// Request implements the producer's request.
func (p *production) Request(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.cancelled || p.finished:
		return
	case n <= 0:
		p.end(faulty("ArrowAsyncProducer.request", "%d tasks requested, expected at least one: %w", n, ErrInvalid))
	case p.wanted > math.MaxInt64-n:
		p.wanted = math.MaxInt64
	default:
		p.wanted += n
	}
	p.signal()
}

// Cancel implements the producer's cancel.
func (p *production) Cancel() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cancelled = true
	p.stop()
	p.signal()
}

// fail ends the stream with an error of an extraction.
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

// await waits for a request. It returns false and the reason if the stream is over. A
// cancel is not an error.
func (p *production) await(ctx context.Context) (more bool, err error) {
	for {
		// The reason is recorded before the context is stopped, so read the context
		// first.
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

// finish makes later requests of the consumer do nothing.
func (p *production) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = true
}
