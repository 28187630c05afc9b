package soak

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// worker is one of the goroutines of a run.
type worker struct {
	number   int
	options  Options
	manager  *memory.Manager
	trimmer  resource.Trimmer // nil where the resource has none
	lanes    []lane
	own      lane
	checker  checker
	inboxes  []chan held // of all workers
	random   *rand.Rand
	held     []held
	pieces   []piece
	sequence uint32
	steps    int
	// failing is the time of the first of consecutive failures of allocation while nothing is held.
	failing time.Time
	report  Report
}

// held is a block that a worker holds.
type held struct {
	piece
	// lane is the number of the only stream that has used the memory, or severalLanes.
	lane int
}

const (
	severalLanes = -1
	// one in oneHeldBack operations is late.
	oneHeldBack = 8
)

// drive runs until the worker has done its part of the operations, then releases its
// blocks.
func (w *worker) drive(ctx context.Context) error {
	for part := w.options.Operations / uint64(w.options.Goroutines); w.report.Operations() <= part; {
		if ctx.Err() != nil {
			return cancel.Error(ctx)
		}
		if err := w.step(); err != nil {
			return fmt.Errorf("goroutine %d: %w", w.number, err)
		}
	}
	return w.finish()
}

// step does one random operation. Allocations are more likely than releases, so a
// worker mostly holds the maximum.
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

// receive takes the blocks that other workers have passed.
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

// handOver passes a block to a random worker, unless its queue is full.
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

// choose moves up to most random blocks to the end of the held blocks and returns them.
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

// size returns a random size, mostly small: its logarithm is the square of a uniform
// number. Every fourth is a power of two, because some resources keep recurring sizes
// separately.
func (w *worker) size() uint64 {
	u := w.random.Float64()
	exponent := u * u * math.Log2(float64(w.options.MaximumBytes)/leastBytes)
	if w.random.IntN(4) == 0 {
		exponent = math.Floor(exponent)
	}
	return min(uint64(leastBytes*math.Exp2(exponent)), w.options.MaximumBytes)
}

// allocate allocates up to batch blocks and writes them.
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
		w.failing = time.Time{}
		if err := w.write(fresh, w.anyLane()); err != nil {
			return err
		}
	}
	if short != nil {
		return w.makeRoom(short)
	}
	return nil
}

// makeRoom releases a block after a failed allocation.
func (w *worker) makeRoom(short error) error {
	if !errors.Is(short, memory.ErrBudget) && !errors.Is(short, device.ErrOutOfMemory) {
		return short
	}
	w.report.Failures++
	if len(w.held) > 0 {
		return w.retire(w.choose(batch))
	}
	// Other workers, or pending work, hold the memory.
	if w.failing.IsZero() {
		w.failing = time.Now()
	}
	if time.Since(w.failing) > await.Limit {
		return fmt.Errorf("allocations have failed for %v: %w", await.Limit, short)
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

// check enqueues the comparison of the blocks with their patterns.
func (w *worker) check(blocks []held, on lane) error {
	pieces, err := w.order(blocks, on)
	if err != nil {
		return err
	}
	w.report.Checks += uint64(len(pieces))
	return w.checker.check(on, pieces, w.heldBack())
}

// order orders the lane after all work on the blocks.
func (w *worker) order(blocks []held, on lane) ([]piece, error) {
	w.pieces = w.pieces[:0]
	for i := range blocks {
		if h := &blocks[i]; h.lane != on.number {
			if err := h.block.OrderBefore(on.Stream); err != nil {
				return nil, err
			}
			h.lane = severalLanes
			w.report.Crossings++
		}
		w.pieces = append(w.pieces, blocks[i].piece)
	}
	return w.pieces, nil
}

func (w *worker) heldBack() bool { return w.random.IntN(oneHeldBack) == 0 }

// retire releases the last held blocks while work on them is pending. Usually the work
// is a check, which detects the write of a later owner that comes too soon; otherwise
// it is a write, which damages the block of a later owner.
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

// release releases the last held blocks.
func (w *worker) release(blocks []held) error {
	w.held = w.held[:len(w.held)-len(blocks)]
	var failures []error
	for _, h := range blocks {
		failures = append(failures, h.block.Release())
	}
	w.report.Frees += uint64(len(blocks))
	return errors.Join(failures...)
}

// finish checks and releases all blocks that the worker holds or was passed.
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

// abandon releases all blocks that the worker holds or was passed, without a check.
func (w *worker) abandon() error {
	w.receive()
	return w.release(w.held)
}

// trim makes the resource free cached memory, down to a random limit below the bytes in
// use.
func (w *worker) trim() error {
	keep := w.random.Uint64N(w.manager.Stats().InUse + 1)
	released, err := w.trimmer.Trim(keep)
	w.report.Trims++
	w.report.TrimmedBytes += released
	return err
}
