package replay

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/gpuframe/gpuframe/memory/adaptor/trace"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Summary describes the contents of a log.
type Summary struct {
	// Allocations and Frees are the requests that a replay makes.
	Allocations, Frees int
	// Threads and Streams are the numbers of different threads and streams.
	Threads, Streams int
	// LoggedFailures are requests that failed when the log was written.
	LoggedFailures int
	// UnknownFrees are frees of allocations that are not in the log.
	UnknownFrees int
	// Overlaps are allocations at an address that was still held.
	Overlaps int
	// Unfreed are the allocations still held at the end, UnfreedBytes their total
	// size.
	Unfreed      int
	UnfreedBytes uint64
	// PeakBytes is the maximum of the bytes held at a time.
	PeakBytes uint64
}

// Log is a log prepared for replay. Replays do not change it, so it can be replayed
// any number of times.
type Log struct {
	summary Summary
	steps   []step
	// lanes are the steps of each thread.
	lanes [][]int32
	// ranges are the steps, divided where the thread changes.
	ranges  []stepRange
	streams []streamKey
	// slots is the number of allocations; shared lists the slots of those that
	// another thread frees.
	slots  int
	shared []int32
	// peak is the step after which the most memory is held.
	peak int32
}

// step is a request.
type step struct {
	time  time.Duration
	bytes uint64
	line  int32
	// slot is the number of the allocation that the step makes or frees.
	slot         int32
	lane, stream int32
	free         bool
	// across is set if one thread allocates and another frees.
	across bool
}

// stepRange is the range of steps [first, end), all of one thread.
type stepRange struct{ lane, first, end int32 }

// streamKey identifies a stream. thread is zero except for a per-thread default
// stream.
type streamKey struct{ stream, thread uint64 }

const (
	legacyDefaultStream    = 1
	perThreadDefaultStream = 2
)

func keyOf(event trace.Event) streamKey {
	switch event.Stream {
	case legacyDefaultStream:
		return streamKey{}
	case perThreadDefaultStream:
		return streamKey{stream: event.Stream, thread: event.Thread}
	}
	return streamKey{stream: event.Stream}
}

// Load reads all events and returns them as a Log. The error wraps the error of the
// sequence, for example a [*trace.ParseError], or resource.ErrOverflow if the size
// of the held memory exceeds 64 bits.
func Load(events iter.Seq2[trace.Event, error]) (*Log, error) {
	b := builder{live: map[uint64][]int32{}, threads: map[uint64]int32{}, streams: map[streamKey]int32{}}
	for event, err := range events {
		if err != nil {
			return nil, fmt.Errorf("replay: load: %w", err)
		}
		if err := b.add(event); err != nil {
			return nil, fmt.Errorf("replay: load: line %d: %w", event.Line, err)
		}
	}
	return b.finish(), nil
}

// Summary returns a description of the log.
func (l *Log) Summary() Summary { return l.summary }

// builder builds a Log.
type builder struct {
	log Log
	// live maps an address to the steps that allocated the memory held there, the
	// oldest first.
	live    map[uint64][]int32
	threads map[uint64]int32
	streams map[streamKey]int32
	held    uint64
}

func (b *builder) add(event trace.Event) error {
	if len(b.log.steps) == math.MaxInt32 {
		return fmt.Errorf("more than %d requests: %w", math.MaxInt32, resource.ErrOverflow)
	}
	switch event.Action {
	case trace.AllocateFailure:
		b.log.summary.LoggedFailures++
	case trace.Allocate:
		return b.allocate(event)
	case trace.Free:
		b.free(event)
	}
	return nil
}

func (b *builder) allocate(event trace.Event) error {
	held, overflow := bits.Add64(b.held, event.Size, 0)
	if overflow != 0 {
		return fmt.Errorf("%d bytes more than the %d that are held: %w", event.Size, b.held, resource.ErrOverflow)
	}
	b.held = held
	s := b.step(event)
	s.slot, s.bytes = int32(b.log.slots), event.Size
	b.log.slots++
	index := b.append(s)
	if held > b.log.summary.PeakBytes {
		b.log.summary.PeakBytes, b.log.peak = held, index
	}
	b.log.summary.Allocations++
	// Empty allocations may share an address.
	if len(b.live[event.Pointer]) > 0 && event.Size > 0 {
		b.log.summary.Overlaps++
	}
	b.live[event.Pointer] = append(b.live[event.Pointer], index)
	return nil
}

func (b *builder) free(event trace.Event) {
	live := b.live[event.Pointer]
	if len(live) == 0 {
		// Freeing a null pointer is not an error.
		if event.Pointer != 0 {
			b.log.summary.UnknownFrees++
		}
		return
	}
	which := max(0, slices.IndexFunc(live, func(step int32) bool { return b.log.steps[step].bytes == event.Size }))
	allocation := &b.log.steps[live[which]]
	if live = slices.Delete(live, which, which+1); len(live) == 0 {
		delete(b.live, event.Pointer)
	} else {
		b.live[event.Pointer] = live
	}
	s := b.step(event)
	s.free, s.slot, s.bytes = true, allocation.slot, allocation.bytes
	if s.lane != allocation.lane {
		s.across, allocation.across = true, true
		b.log.shared = append(b.log.shared, s.slot)
	}
	b.append(s)
	b.held -= s.bytes
	b.log.summary.Frees++
}

func (b *builder) step(event trace.Event) step {
	lane, known := b.threads[event.Thread]
	if !known {
		lane = int32(len(b.threads))
		b.threads[event.Thread] = lane
		b.log.lanes = append(b.log.lanes, nil)
	}
	key := keyOf(event)
	stream, known := b.streams[key]
	if !known {
		stream = int32(len(b.streams))
		b.streams[key] = stream
		b.log.streams = append(b.log.streams, key)
	}
	return step{time: event.Time, line: int32(event.Line), lane: lane, stream: stream}
}

func (b *builder) append(s step) (index int32) {
	l := &b.log
	index = int32(len(l.steps))
	l.steps = append(l.steps, s)
	l.lanes[s.lane] = append(l.lanes[s.lane], index)
	if last := len(l.ranges) - 1; last >= 0 && l.ranges[last].lane == s.lane {
		l.ranges[last].end++
	} else {
		l.ranges = append(l.ranges, stepRange{s.lane, index, index + 1})
	}
	return index
}

func (b *builder) finish() *Log {
	l := &b.log
	for _, steps := range b.live {
		l.summary.Unfreed += len(steps)
	}
	l.summary.UnfreedBytes = b.held
	l.summary.Threads, l.summary.Streams = len(l.lanes), len(l.streams)
	return l
}
