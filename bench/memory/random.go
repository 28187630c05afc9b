package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/replay"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// rmmBest holds, by the largest allocation in MiB, the time of the best of RMM's
// resources for 100,000 allocations, and that of its primed cuda_async on the same
// machine. Our bar is the first, scaled by the time of the primed pool here.
var rmmBest = map[uint64]struct{ best, async time.Duration }{
	1:    {44 * time.Millisecond, 206 * time.Millisecond},
	64:   {120 * time.Millisecond, 153 * time.Millisecond},
	1024: {54 * time.Millisecond, 133 * time.Millisecond},
}

const (
	rmmCount = 100_000
	rmmMost  = 16_000
	// endBar is the maximum reserved at the end, as a multiple of the maximum in use.
	endBar = 1.15
)

// timing is the result of several runs of a sequence.
type timing struct {
	// first is the time of the first run, steady the median of the others; both are
	// zero if the first took too long. share is the part of it that was done by then.
	first, steady time.Duration
	share         float64
	// The reserved bytes: the maximum and, after the last run, the rest. Zero means
	// unknown.
	peak, end uint64
}

// repeat runs a function, which returns its progress, until enough runs are done or the
// time is over.
func (b *bench) repeat(length int, once func() (took time.Duration, done int, err error)) (t timing, err error) {
	runs := 6
	if b.quick {
		runs = 2
	}
	var times []time.Duration
	for start := time.Now(); len(times) < runs && (len(times) < 2 || time.Since(start) < b.limit); {
		runtime.GC()
		took, done, err := once()
		if err != nil {
			return t, err
		}
		if done < length {
			t.share = float64(done) / float64(length)
			return t, nil
		}
		times = append(times, took)
	}
	t.share, t.first, t.steady = 1, times[0], middle(times[1:])
	return t, nil
}

func (b *bench) random() error {
	stream := b.dev.DefaultStream() // as in RMM's program
	half, err := b.half()
	if err != nil {
		return err
	}
	for _, largest := range b.sizes {
		s := randomSequence(b.count, largest<<20, b.most<<20)
		t := table.New("resource", "primed with", "first run", "later runs", "peak reserved ÷ peak in use", "reserved at end ÷ peak in use",
			"of the primed pool from C", "bar")
		base, err := b.randomInC(t, s, half, stream)
		if err != nil {
			return err
		}
		for _, subject := range subjects {
			for _, initial := range []uint64{0, half} {
				if initial > 0 && !subject.primes {
					continue
				}
				if err := b.randomOf(t, subject, s, largest, initial, base, stream); err != nil {
					return fmt.Errorf("%s, at most %d MiB: %w", subject.name, largest, err)
				}
			}
		}
		heading := fmt.Sprintf("Random: %s allocations of up to %d MiB, at most %s MiB in use; peak %s",
			humanize.Comma(int64(b.count)), largest, humanize.Comma(int64(b.most)), gibibytes(s.peak))
		if err := show(heading, t); err != nil {
			return err
		}
	}
	return nil
}

// randomInC adds the driver's pool and returns its time when it is primed; zero means
// unknown.
func (b *bench) randomInC(t *table.Table, s *sequence, half uint64, stream *device.Stream) (base time.Duration, err error) {
	for _, initial := range []uint64{0, half} {
		pool, err := b.pool(initial, stream)
		if pool == nil || err != nil {
			return 0, err
		}
		measured, err := b.repeat(len(s.bytes), func() (time.Duration, int, error) {
			return pool.Replay(s.bytes, s.slots, s.slotCount, b.limit, stream.Handle())
		})
		if err == nil {
			measured.end, measured.peak, err = pool.Reserved()
		}
		pool.close(&err)
		if err != nil {
			return 0, err
		}
		base = measured.steady
		t.Add(measured.row("the driver's pool from C", s, initial, 0, nil)...)
	}
	return base, nil
}

func (b *bench) randomOf(t *table.Table, subject subject, s *sequence, largest, initial uint64, base time.Duration, stream *device.Stream) error {
	var measured timing
	err := subject.with(b.dev, initial, func(source *source) error {
		held := source.newSlots(s.slotCount)
		var err error
		measured, err = b.repeat(len(s.bytes), func() (time.Duration, int, error) { return held.replay(s, b.limit, stream) })
		if err != nil {
			return err
		}
		footprint, _, err := replay.FootprintOf(source.resource)
		measured.peak, measured.end = footprint.PeakReserved, footprint.Reserved
		return err
	})
	if err != nil {
		return err
	}
	var demands bars
	if subject.judged {
		b.judge(&demands, measured, s, largest, initial, base)
	}
	t.Add(measured.row(subject.name, s, initial, base, demands)...)
	return nil
}

// judge compares a run with the best of RMM's resources, if that was measured, and with
// the limit of reserved memory.
func (b *bench) judge(demands *bars, measured timing, s *sequence, largest, initial uint64, base time.Duration) {
	best, known := rmmBest[largest]
	took := measured.steady
	if measured.share < 1 {
		took = math.MaxInt64
	}
	if known && b.count == rmmCount && b.most == rmmMost {
		demands.demand(took <= best.best, "≤ %s", milliseconds(best.best))
		if base > 0 {
			scaled := time.Duration(float64(best.best) * ratio(base, best.async))
			demands.demand(took <= scaled, "scaled ≤ %s", milliseconds(scaled))
		}
	}
	if initial == 0 && measured.end > 0 {
		demands.demand(float64(measured.end) <= endBar*float64(s.peak), "end ≤ %.2f", endBar)
	}
}

func (t timing) row(name string, s *sequence, initial uint64, base time.Duration, demands bars) []string {
	first, steady, relative := milliseconds(t.first), milliseconds(t.steady), ""
	if t.share < 1 {
		first, steady = fmt.Sprintf("given up after %.1f %%", 100*t.share), ""
	} else if base > 0 {
		relative = fmt.Sprintf("%.2f", ratio(t.steady, base))
	}
	return []string{name, gibibytes(initial), first, steady, part(t.peak, s.peak), part(t.end, s.peak), relative, demands.String()}
}

// slots hold the allocations of a sequence.
type slots struct {
	source      *source
	allocations []resource.Allocation
	blocks      []*memory.Block
}

func (s *source) newSlots(n int) *slots {
	if s.manager != nil {
		return &slots{source: s, blocks: make([]*memory.Block, n)}
	}
	return &slots{source: s, allocations: make([]resource.Allocation, n)}
}

// replay runs the sequence until its end or the limit, and returns the number of
// requests. The remaining memory is freed after the time was taken.
func (h *slots) replay(s *sequence, limit time.Duration, stream *device.Stream) (took time.Duration, done int, err error) {
	const often = 256
	start := time.Now()
	for done < len(s.bytes) && time.Since(start) < limit {
		end := min(done+often, len(s.bytes))
		if h.blocks != nil {
			err = h.withManager(s.bytes[done:end], s.slots[done:end], stream)
		} else {
			err = h.withResource(s.bytes[done:end], s.slots[done:end], stream)
		}
		if err != nil {
			return 0, done, errors.Join(fmt.Errorf("requests %d to %d: %w", done, end, err), h.free())
		}
		done = end
	}
	took = time.Since(start)
	return took, done, h.free()
}

func (h *slots) withManager(sizes []uint64, slots []uint32, stream *device.Stream) (err error) {
	options := memory.AllocateOptions{Stream: stream, Tag: "bench"}
	for i, bytes := range sizes {
		block := &h.blocks[slots[i]]
		if bytes > 0 {
			*block, err = h.source.manager.Allocate(bytes, options)
		} else {
			err = (*block).Release()
			*block = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *slots) withResource(sizes []uint64, slots []uint32, stream *device.Stream) (err error) {
	resource := h.source.resource
	for i, bytes := range sizes {
		allocation := &h.allocations[slots[i]]
		if bytes > 0 {
			*allocation, err = resource.Allocate(bytes, stream)
		} else {
			err = resource.Free(*allocation, nil)
			allocation.Bytes = 0
		}
		if err != nil {
			allocation.Bytes = 0
			return err
		}
	}
	return nil
}

// free frees what is left.
func (h *slots) free() error {
	for i := range h.blocks {
		if err := h.blocks[i].Release(); err != nil {
			return err
		}
		h.blocks[i] = nil
	}
	for i := range h.allocations {
		if h.allocations[i].Bytes == 0 {
			continue
		}
		if err := h.source.resource.Free(h.allocations[i], nil); err != nil {
			return err
		}
		h.allocations[i] = resource.Allocation{}
	}
	return nil
}
