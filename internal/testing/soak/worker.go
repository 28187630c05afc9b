package soak

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// worker is one of the goroutines of a run.
type worker struct {
	number   int
	options  Options
	manager  *memory.Manager
	trimmer  memory.Trimmer // nil where the resource has none
	lanes    []lane
	own      lane
	checker  checker
	inboxes  []chan held // of all workers
	random   *rand.Rand
	held     []held
	pieces   []piece
	sequence uint32
	steps    int
	// failed counts the allocations in a row that failed with nothing held.
	failed int
	report Report
}

// held is a block that a worker holds.
type held struct {
	piece
	// lane is the number of the only stream that has used the memory, or several.
	lane int
}

const (
	several = -1
	// mostFailures is how often a worker that holds nothing asks for memory.
	mostFailures = 100_000
	// oneHeldBack of so many pieces of work is held back.
	oneHeldBack = 8
)

// drive goes on until the worker has done its part of the operations and then
// releases what it holds.
func (w *worker) drive(ctx context.Context) error {
	for part := w.options.Operations / uint64(w.options.Goroutines); w.report.Operations() <= part; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := w.step(); err != nil {
			return fmt.Errorf("goroutine %d: %w", w.number, err)
		}
	}
	return w.finish()
}

// step does one thing at random. Allocations are more likely than releases, so
// that a worker mostly holds as much as it may.
func (w *worker) step() error {
	w.receive()
	w.steps++
	if w.trimmer != nil && w.options.TrimEvery > 0 && w.steps%w.options.TrimEvery == 0 {
		return w.trim()
	}
	switch p := w.random.Float64(); {
	case len(w.held) == 0, p < 0.4 && len(w.held) < w.options.Held:
		return w.allocate()
	case p < 0.75:
		return w.retire(w.choose(batch))
	case p < 0.85:
		return w.check(w.choose(batch), w.anyLane())
	case p < 0.92:
		return w.write(w.choose(batch), w.anyLane())
	default:
		w.handOver()
		return nil
	}
}

// receive takes the blocks that other workers have sent.
func (w *worker) receive() {
	for {
		select {
		case h := <-w.inboxes[w.number]:
			w.held = append(w.held, h)
		default:
			return
		}
	}
}

// handOver sends a block to any worker, unless that has many to take already.
func (w *worker) handOver() {
	last := len(w.held) - 1
	w.choose(1)
	select {
	case w.inboxes[w.random.IntN(len(w.inboxes))] <- w.held[last]:
		w.held = w.held[:last]
		w.report.Handovers++
	default:
	}
}

// choose moves up to so many blocks, at random, to the end of what is held and
// returns them.
func (w *worker) choose(most int) []held {
	n := min(1+w.random.IntN(most), len(w.held))
	for i := range n {
		last := len(w.held) - 1 - i
		j := w.random.IntN(last + 1)
		w.held[last], w.held[j] = w.held[j], w.held[last]
	}
	return w.held[len(w.held)-n:]
}

// anyLane is the worker's own, mostly.
func (w *worker) anyLane() lane {
	if w.random.Float64() < w.options.CrossStream {
		return w.lanes[w.random.IntN(len(w.lanes))]
	}
	return w.own
}

// size is mostly small: its logarithm is the square of a uniform number. Every
// fourth is a power of two, for sizes that come again are kept apart by some
// resources.
func (w *worker) size() uint64 {
	u := w.random.Float64()
	exponent := u * u * math.Log2(float64(w.options.MaximumBytes)/leastBytes)
	if w.random.IntN(4) == 0 {
		exponent = math.Floor(exponent)
	}
	return min(uint64(leastBytes*math.Exp2(exponent)), w.options.MaximumBytes)
}

// allocate makes up to batch blocks and writes them.
func (w *worker) allocate() error {
	on := w.anyLane()
	before := len(w.held)
	var short error
	for range 1 + w.random.IntN(batch) {
		bytes := w.size()
		block, err := w.manager.Allocate(bytes, memory.AllocateOptions{Stream: on.Stream})
		if err != nil {
			short = err
			break
		}
		w.report.Allocations++
		w.report.Bytes += bytes
		w.held = append(w.held, held{piece: piece{block: block}, lane: on.number})
	}
	if fresh := w.held[before:]; len(fresh) > 0 {
		w.failed = 0
		if err := w.write(fresh, w.anyLane()); err != nil {
			return err
		}
	}
	if short != nil {
		return w.makeRoom(short)
	}
	return nil
}

// makeRoom answers a failed allocation by releasing something.
func (w *worker) makeRoom(short error) error {
	if !errors.Is(short, memory.ErrBudget) && !errors.Is(short, device.ErrOutOfMemory) {
		return short
	}
	w.report.Failures++
	if len(w.held) > 0 {
		return w.retire(w.choose(batch))
	}
	// Others hold the memory, or work that is still enqueued does.
	if w.failed++; w.failed > mostFailures {
		return fmt.Errorf("%d allocations in a row have failed: %w", w.failed, short)
	}
	runtime.Gosched()
	return w.own.Synchronize(context.Background())
}

// write gives the blocks new contents.
func (w *worker) write(blocks []held, on lane) error {
	for i := range blocks {
		w.sequence++
		blocks[i].writing = newWriting(w.number, w.sequence)
	}
	pieces, err := w.order(blocks, on)
	if err != nil {
		return err
	}
	w.report.Writes += uint64(len(pieces))
	return w.checker.write(on, pieces, w.heldBack())
}

// check compares the blocks with what was written.
func (w *worker) check(blocks []held, on lane) error {
	pieces, err := w.order(blocks, on)
	if err != nil {
		return err
	}
	w.report.Checks += uint64(len(pieces))
	return w.checker.check(on, pieces, w.heldBack())
}

// order makes the lane come after all work on the blocks.
func (w *worker) order(blocks []held, on lane) ([]piece, error) {
	w.pieces = w.pieces[:0]
	for i := range blocks {
		if h := &blocks[i]; h.lane != on.number {
			if err := h.block.OrderBefore(on.Stream); err != nil {
				return nil, err
			}
			h.lane = several
			w.report.Crossings++
		}
		w.pieces = append(w.pieces, blocks[i].piece)
	}
	return w.pieces, nil
}

func (w *worker) heldBack() bool { return w.random.IntN(oneHeldBack) == 0 }

// retire releases blocks, which are the last of those held, while work on them
// is pending: mostly a check, which sees a later owner's writing if that comes
// too soon, and else a write, which then harms the later owner.
func (w *worker) retire(blocks []held) error {
	work := w.check
	if w.random.IntN(8) == 0 {
		work = w.write
	}
	if err := work(blocks, w.anyLane()); err != nil {
		return err
	}
	return w.release(blocks)
}

// release releases blocks, which are the last of those held.
func (w *worker) release(blocks []held) error {
	w.held = w.held[:len(w.held)-len(blocks)]
	var failures []error
	for _, h := range blocks {
		failures = append(failures, h.block.Release())
	}
	w.report.Frees += uint64(len(blocks))
	return errors.Join(failures...)
}

// finish checks and releases everything that the worker holds or was sent.
func (w *worker) finish() error {
	w.receive()
	for len(w.held) > 0 {
		blocks := w.held[max(0, len(w.held)-batch):]
		if err := w.check(blocks, w.anyLane()); err != nil {
			return fmt.Errorf("goroutine %d: %w", w.number, err)
		}
		if err := w.release(blocks); err != nil {
			return fmt.Errorf("goroutine %d: %w", w.number, err)
		}
	}
	return nil
}

// abandon releases everything that the worker holds or was sent, unchecked.
func (w *worker) abandon() error {
	w.receive()
	return w.release(w.held)
}

// trim has the resource give back memory that it keeps, down to anything up to
// what is in use.
func (w *worker) trim() error {
	keep := w.random.Uint64N(w.manager.Stats().InUse + 1)
	released, err := w.trimmer.Trim(keep)
	w.report.Trims++
	w.report.TrimmedBytes += released
	return err
}
