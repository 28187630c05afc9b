package replay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Result is the result of a run. Sizes are the requested bytes.
type Result struct {
	// Elapsed is the time from the first to the last request.
	Elapsed time.Duration
	// Allocations and Frees succeeded. Failures counts the requests that got no
	// memory, and FirstFailure is the error of the first of them.
	Allocations, Frees, Failures int
	FirstFailure                 error
	// PeakInUse is the maximum of the bytes held at a time, in the order of the log.
	PeakInUse uint64
	// AtPeak is the moment at which the log holds the most memory, not counting
	// failures of the run.
	AtPeak Moment
	// AtEnd is the moment after the last request, before the remaining allocations
	// are freed.
	AtEnd Moment
	// KnowsFootprint is set if the resource reports the memory that it reserves.
	KnowsFootprint bool
}

// Moment is the memory held at one moment by the program and by the resource.
type Moment struct {
	InUse uint64
	Footprint
}

// Fragmentation returns the unused fraction of the memory that the resource holds: 1
// − in use ÷ reserved, or 0 if the resource reports no reserved memory.
func (m Moment) Fragmentation() float64 {
	if m.Reserved == 0 || m.InUse >= m.Reserved {
		return 0
	}
	return 1 - float64(m.InUse)/float64(m.Reserved)
}

// performance is one run of a player.
type performance struct {
	*Player
	start time.Time
	held  []held
	// shared holds a channel for each allocation that another thread frees. The
	// channel is closed after the allocation has succeeded or failed. shared is nil
	// for a sequential run.
	shared   map[int32]chan struct{}
	atPeak   Footprint
	failures atomic.Int64
	first    atomic.Pointer[failure]
	// asking is the error of reading the footprint at the peak.
	asking error
}

// held is an allocation of the log.
type held struct {
	resource.Allocation
	allocated, freed bool
}

type failure struct {
	step int32
	err  error
}

// Run replays the log once. It frees all its allocations before it returns, even
// after an error. Requests that get no memory are counted in the result. Run must
// not be called concurrently on one player.
//
// # Errors
//
// An error means that the run was aborted: because a free failed, the device was
// lost, or the context was done. The result then describes the part before the
// error.
func (p *Player) Run(ctx context.Context) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("replay: %w", err)
	}
	r := &performance{Player: p, held: make([]held, p.log.slots)}
	if p.options.Concurrent {
		r.shared = make(map[int32]chan struct{}, len(p.log.shared))
		for _, slot := range p.log.shared {
			r.shared[slot] = make(chan struct{})
		}
	}
	r.start = time.Now()
	var err error
	if p.options.Concurrent {
		err = r.sideBySide(ctx)
	} else {
		err = r.inOrder(ctx)
	}
	result := Result{Elapsed: time.Since(r.start), Failures: int(r.failures.Load())}
	atEnd, known, errEnd := FootprintOf(p.resource)
	result.AtEnd.Footprint, result.AtPeak.Footprint, result.KnowsFootprint = atEnd, r.atPeak, known
	if first := r.first.Load(); first != nil {
		result.FirstFailure = first.err
	}
	r.count(&result)
	return result, errors.Join(err, r.asking, errEnd, r.freeRest())
}

// inOrder makes the requests in the order of the log. A goroutine that receives the
// number of a range makes its requests and sends the next number to the goroutine of
// that range's thread, so only one goroutine works at a time.
func (r *performance) inOrder(ctx context.Context) (err error) {
	turns := make([]chan int, len(r.log.lanes))
	for lane := range turns {
		turns[lane] = make(chan int, 1)
	}
	finish := func() {
		for _, turn := range turns {
			close(turn)
		}
	}
	h := &hand{performance: r}
	var group errgroup.Group
	for _, turn := range turns {
		group.Go(func() error {
			for number := range turn {
				if number == len(r.log.ranges) {
					h.rest()
					finish()
					return nil
				}
				if err := h.steps(ctx, r.log.ranges[number]); err != nil {
					finish()
					return err
				}
				next := number + 1
				lane := r.log.ranges[min(next, len(r.log.ranges)-1)].lane
				turns[lane] <- next
			}
			return nil
		})
	}
	if len(turns) > 0 {
		turns[r.log.ranges[0].lane] <- 0
	}
	return group.Wait()
}

// sideBySide runs one independent goroutine per thread. A free comes after its
// allocation in the log, so each goroutine waits only for earlier steps, which
// prevents deadlocks.
func (r *performance) sideBySide(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, lane := range r.log.lanes {
		group.Go(func() error {
			h := &hand{performance: r}
			for _, i := range lane {
				if err := h.step(ctx, i); err != nil {
					return err
				}
			}
			h.rest()
			return nil
		})
	}
	return group.Wait()
}

// hand makes requests, one at a time.
type hand struct {
	*performance
	// done counts the requests since the last call of Progress.
	done int
}

func (h *hand) steps(ctx context.Context, steps stepRange) error {
	for i := steps.first; i < steps.end; i++ {
		if err := h.step(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// rest reports the requests that have not been reported to Progress.
func (h *hand) rest() {
	if h.options.Progress != nil && h.done > 0 {
		h.options.Progress(h.done)
	}
	h.done = 0
}

func (h *hand) step(ctx context.Context, index int32) error {
	// often is the number of requests between checks of the context.
	const often = 1024
	r, s := h.performance, &h.log.steps[index]
	if h.done == often {
		h.rest()
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("replay: line %d: %w", s.line, err)
		}
	}
	h.done++
	if r.options.Speed > 0 {
		if err := r.pace(ctx, s); err != nil {
			return fmt.Errorf("replay: line %d: %w", s.line, err)
		}
	}
	if s.free {
		return r.free(ctx, s)
	}
	err := r.allocate(index, s)
	if index == r.log.peak {
		r.atPeak, _, r.asking = FootprintOf(r.resource)
	}
	return err
}

func (r *performance) allocate(index int32, s *step) error {
	h := &r.held[s.slot]
	if s.across && r.shared != nil {
		defer close(r.shared[s.slot])
	}
	if s.bytes == 0 {
		// A manager never allocates zero bytes from a resource.
		h.allocated = true
		return nil
	}
	allocation, err := r.resource.Allocate(s.bytes, r.streams[s.stream])
	if err == nil {
		h.Allocation, h.allocated = allocation, true
		return nil
	}
	err = fmt.Errorf("replay: line %d: allocate %d bytes: %w", s.line, s.bytes, err)
	if errors.Is(err, device.ErrDeviceLost) || errors.Is(err, resource.ErrClosed) {
		return err
	}
	r.failed(&failure{index, err})
	return nil
}

// failed keeps the failure that comes first in the log.
func (r *performance) failed(f *failure) {
	r.failures.Add(1)
	for {
		first := r.first.Load()
		if first != nil && first.step <= f.step || r.first.CompareAndSwap(first, f) {
			return
		}
	}
}

func (r *performance) free(ctx context.Context, s *step) error {
	if s.across && r.shared != nil {
		select {
		case <-r.shared[s.slot]:
		case <-ctx.Done():
			return fmt.Errorf("replay: line %d: %w", s.line, ctx.Err())
		}
	}
	h := &r.held[s.slot]
	if !h.allocated {
		return nil
	}
	h.freed = true
	if s.bytes == 0 {
		return nil
	}
	var further []*device.Stream
	if stream := r.streams[s.stream]; stream != h.Stream {
		further = []*device.Stream{stream}
	}
	if err := r.resource.Free(h.Allocation, further); err != nil {
		return fmt.Errorf("replay: line %d: free %d bytes: %w", s.line, s.bytes, err)
	}
	return nil
}

// pace waits until the scheduled time of the request.
func (r *performance) pace(ctx context.Context, s *step) error {
	after := time.Duration(float64(s.time-r.log.steps[0].time) / r.options.Speed)
	wait := time.Until(r.start.Add(after))
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// count computes the statistics that depend on the order of the log. It runs after
// the measurement.
func (r *performance) count(result *Result) {
	var inUse uint64
	for i, s := range r.log.steps {
		h := &r.held[s.slot]
		switch {
		case s.free && h.freed:
			result.Frees++
			inUse -= s.bytes
		case !s.free && h.allocated:
			result.Allocations++
			inUse += s.bytes
			result.PeakInUse = max(result.PeakInUse, inUse)
		}
		if int32(i) == r.log.peak {
			result.AtPeak.InUse = inUse
		}
	}
	result.AtEnd.InUse = inUse
}

// freeRest frees the allocations that the log, or an aborted run, did not free.
func (r *performance) freeRest() error {
	var failures []error
	for i := range r.held {
		h := &r.held[i]
		if !h.allocated || h.freed || h.Bytes == 0 {
			continue
		}
		if err := r.resource.Free(h.Allocation, nil); err != nil {
			failures = append(failures, fmt.Errorf("replay: free what the log leaves: %w", err))
		}
	}
	return errors.Join(failures...)
}
