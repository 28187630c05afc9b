package staging

import (
	"context"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/cancel"
	"github.com/gpuframe/gpuframe/internal/streamcopy"
)

// feed is one staged upload. The workers fill lots and never call the driver;
// the goroutine that wants the upload opens lots, sends those that are full, and
// fills parts when there is nothing else to do. Were the workers to send their
// lots themselves they would meet at the driver's lock, and who has to sleep for
// a lock is late by more than a small transfer takes.
type feed struct {
	engine   *Engine
	ctx      context.Context
	stream   *device.Stream
	sequence *sequence
	lots     []lot
	workers  int
	parts    []part
	// move copies what is gathered.
	move func(destination, source []byte) int
	// full receives every lot when its last part is filled.
	full chan *lot
	// stopped is closed when a worker need not wait any longer for a lot to be
	// opened.
	stopped chan struct{}

	opened, sent int
}

func (e *Engine) newFeed(ctx context.Context, stream *device.Stream, s *sequence) *feed {
	lots := cut(s.bytes, uploadLot(s.bytes, e.ring.chunkBytes))
	workers := e.crew.enough(s.bytes)
	return &feed{
		engine: e, ctx: ctx, stream: stream, sequence: s, lots: lots,
		workers: workers, parts: divide(lots, s.bytes, partBytes(s.bytes, workers)),
		full: make(chan *lot, len(lots)), stopped: make(chan struct{}),
		move: mover(s.bytes),
	}
}

// smallForCaches is the length of transfers that would still be in the workers'
// caches when the device fetches them. Of longer ones most has left the caches by
// then, and the runtime's copy is quicker.
const smallForCaches = 32 << 20

func mover(bytes uint64) func(destination, source []byte) int {
	if bytes <= smallForCaches {
		return streamcopy.Copy
	}
	return through
}

// run returns when every lot is on its way.
func (f *feed) run() error {
	if err := f.openSome(); err != nil {
		f.abandon()
		return err
	}
	round := f.engine.crew.begin(f.ctx, f.workers, len(f.parts), f.fill)
	for f.sent < len(f.lots) && !round.failed.Load() {
		if err := f.advance(round); err != nil {
			round.fail(err)
		}
	}
	close(f.stopped)
	round.work() // after a failure this only counts what is left
	err := round.wait()
	f.abandon()
	return err
}

// advance does what is most urgent: to send, to open, to fill, to wait.
func (f *feed) advance(round *round) error {
	select {
	case l := <-f.full:
		return f.send(l)
	default:
	}
	before := f.opened
	if err := f.openSome(); err != nil || f.opened > before {
		return err
	}
	if f.opened > 0 && round.step(f.lots[f.opened-1].end) {
		return nil
	}
	return f.wait()
}

// openSome opens up to two lots if there are chunks for them: workers shall not
// come to the end of one before the next is open.
func (f *feed) openSome() error {
	for range 2 {
		if f.opened == len(f.lots) {
			return nil
		}
		c, err := f.engine.ring.tryTake(f.opened == 0)
		if c == nil || err != nil {
			return err
		}
		f.open(c)
	}
	return nil
}

// wait waits for a full lot or, where none is being filled, for a chunk.
func (f *feed) wait() error {
	var returned chan struct{}
	if f.opened < len(f.lots) {
		returned = f.engine.ring.returned
		c, err := f.engine.ring.oldest(f.ctx)
		if err != nil {
			return err
		}
		if c != nil {
			f.open(c)
			return nil
		}
	}
	if f.opened > f.sent {
		for range patience * spins {
			if len(f.full) > 0 {
				return nil
			}
		}
	}
	select {
	case l := <-f.full:
		return f.send(l)
	case <-returned: // by another transfer
		return nil
	case <-f.ctx.Done():
		return cancel.Error(f.ctx)
	}
}

// open gives the next lot its chunk.
func (f *feed) open(c *chunk) {
	l := &f.lots[f.opened]
	f.opened++
	l.chunk.Store(c)
	close(l.opened)
}

// fill gathers a part into its lot's chunk.
func (f *feed) fill(task int) error {
	p := f.parts[task]
	l := p.lot
	c := f.await(l)
	if c == nil {
		return nil // the round has failed
	}
	f.sequence.gather(c.memory[p.offset:p.offset+p.bytes], l.position+p.offset, f.move)
	if l.left.Add(-1) == 0 {
		f.full <- l
	}
	return nil
}

// await returns a lot's chunk once there is one, or nil when there will be none.
// It is about to be opened, as a rule, and to sleep until then costs more time
// than a small transfer takes.
func (f *feed) await(l *lot) *chunk {
	for range patience * spins {
		if c := l.chunk.Load(); c != nil {
			return c
		}
	}
	select {
	case <-l.opened:
		return l.chunk.Load()
	case <-f.stopped:
		return nil
	}
}

// send enqueues the copies of a full lot. Its chunk is idle once the chunk's event
// is reached.
func (f *feed) send(l *lot) error {
	c := l.chunk.Swap(nil)
	f.sent++
	err := c.enqueue(f.stream, f.sequence, l.position, l.bytes, f.engine.device.Driver(), toDevice)
	f.engine.ring.settle(c, f.stream, err)
	return err
}

// abandon returns the chunks of lots that a failure left behind.
func (f *feed) abandon() {
	for i := range f.opened {
		if c := f.lots[i].chunk.Swap(nil); c != nil {
			f.engine.ring.put(c)
		}
	}
	f.engine.ring.signal() // this transfer may have taken one without a chunk
}
