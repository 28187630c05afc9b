package staging

import (
	"context"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/driver/streamcopy"
)

// feed is one staged upload. The workers fill lots and never call the driver. The
// goroutine that called Upload opens lots, sends full ones, and otherwise fills portions.
// If the workers sent their lots themselves, they would contend for the driver's lock,
// and sleeping on a lock takes longer than a small transfer.
type feed struct {
	engine   *Engine
	ring     *ring
	ctx      context.Context
	stream   *device.Stream
	sequence *sequence
	lots     []lot
	workers  int
	portions []portion
	// move copies a piece into a chunk.
	move func(destination, source []byte) int
	// full receives each lot after its last portion was filled.
	full chan *lot
	// stopped is closed when no further lot will be opened, so that workers stop
	// waiting for one.
	stopped chan struct{}

	opened, sent int
}

func (e *Engine) newFeed(ctx context.Context, stream *device.Stream, s *sequence) *feed {
	lots := cut(s.bytes, uploadLot(s.bytes, e.ring.chunkBytes))
	workers := e.crew.enough(s.bytes)
	return &feed{
		engine: e, ring: e.ringFor(s), ctx: ctx, stream: stream, sequence: s, lots: lots,
		workers: workers, portions: divide(lots, s.bytes, portionBytes(s.bytes, workers)),
		full: make(chan *lot, len(lots)), stopped: make(chan struct{}),
		move: mover(s.bytes),
	}
}

// smallForCaches is the longest transfer that is still in the workers' caches when the
// device reads it. Most of a longer one has left the caches by then, and the runtime's
// copy is faster.
const smallForCaches = 32 << 20

func mover(bytes uint64) func(destination, source []byte) int {
	if bytes <= smallForCaches {
		return streamcopy.Copy
	}
	return through
}

// run makes the upload and returns when every lot was sent.
func (f *feed) run() error {
	if err := f.openSome(); err != nil {
		f.abandon()
		return err
	}
	round := f.engine.crew.begin(f.ctx, f.workers, len(f.portions), f.fill)
	for f.sent < len(f.lots) && !round.failed.Load() {
		if err := f.advance(round); err != nil {
			round.fail(err)
		}
	}
	close(f.stopped)
	round.work() // after a failure this only counts the remaining tasks
	err := round.wait()
	f.abandon()
	return err
}

// advance does the most urgent step: send, open, fill or wait.
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

// lotsAhead is the number of lots that are open and not yet full. Workers fill the first
// of them, and find the next one open when they reach its end. Further open lots would
// only hold chunks, and the ring would pin more of them: in the first transfer of a
// manager, pinning a chunk takes as long as the transfer of twenty.
const lotsAhead = 3

// opens reports whether another lot is to be opened.
func (f *feed) opens() bool {
	return f.opened < len(f.lots) && f.opened-f.sent-len(f.full) < lotsAhead
}

// openSome opens up to two lots if chunks are available for them, so that the next lot
// is open before the workers reach the end of the current one.
func (f *feed) openSome() error {
	for range 2 {
		if !f.opens() {
			return nil
		}
		c, err := f.ring.tryTake(f.opened == 0)
		if c == nil || err != nil {
			return err
		}
		f.open(c)
	}
	return nil
}

// wait waits for a full lot or, if no lot is being filled, for a chunk.
func (f *feed) wait() error {
	var returned chan struct{}
	if f.opens() {
		returned = f.ring.returned
		c, err := f.ring.oldest(f.ctx)
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

// open assigns a chunk to the next lot.
func (f *feed) open(c *chunk) {
	l := &f.lots[f.opened]
	f.opened++
	l.chunk.Store(c)
	close(l.opened)
}

// fill gathers a portion into its lot's chunk.
func (f *feed) fill(task int) error {
	p := f.portions[task]
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

// await returns a lot's chunk when it is available, or nil if the upload failed. It
// spins first: the lot is usually opened soon, and sleeping takes longer than a small
// transfer.
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

// send enqueues the copies of a full lot. Its chunk is idle when the chunk's event is
// reached.
func (f *feed) send(l *lot) error {
	c := l.chunk.Swap(nil)
	f.sent++
	err := c.enqueue(f.stream, f.sequence, l.position, l.bytes, f.engine.device.Driver(), toDevice)
	f.ring.giveBack(c, f.stream, err)
	return err
}

// abandon returns the chunks of lots that were not sent because of a failure.
func (f *feed) abandon() {
	for i := range f.opened {
		if c := f.lots[i].chunk.Swap(nil); c != nil {
			f.ring.put(c)
		}
	}
	f.ring.signal() // this transfer may have consumed a signal without taking a chunk
}
