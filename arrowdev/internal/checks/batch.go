package checks

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Batch collects checks and runs them with one wait at the end. Its methods that
// add a check only note it; what is wrong with their arguments Run reports.
//
// All buffers lie on the device of the batch's manager. A Batch holds no
// references: the buffers must live until Run returns. It is not safe for
// concurrent use.
type Batch struct {
	manager *memory.Manager
	stream  *device.Stream
	entries []entry
}

// NewBatch returns an empty batch, which costs nothing. The manager provides the
// little memory that the answers take on a GPU; nil as the stream is the manager's.
func NewBatch(m *memory.Manager, stream *device.Stream) *Batch {
	if stream == nil {
		stream = m.Stream()
	}
	return &Batch{manager: m, stream: stream}
}

// Check is a check of one batch, for which [Results] has an answer.
type Check int

// Len returns how many checks were added.
func (b *Batch) Len() int { return len(b.entries) }

// Reset empties the batch for another use. The answers to its checks stay good.
func (b *Batch) Reset() {
	clear(b.entries)
	b.entries = b.entries[:0]
}

// check is what a batch knows of one kind of check on one array.
type check interface {
	// reads lists the memory it reads.
	reads() []Buffer
	// table returns numbers that the kernel needs in the device's memory.
	table() []int64
	// kernel returns what to launch for it.
	kernel(table memory.Slice[int64], result memory.Slice[int64]) launch
	// onHost returns what it finds in the bytes of what it reads.
	onHost(read [][]byte) outcome
	// peek returns the parts of what it reads that tell what is wrong with
	// element bad, which may be empty, and explain says it by their bytes.
	peek(bad int) []span
	explain(bad int, read [][]byte) (value int64, reason string)
}

// outcome is what a check found. It is laid out as struct Result of search.cuh.
type outcome struct {
	// bad is the first element that is wrong, counted from the first that was
	// checked, or -1.
	bad int64
	// first and last are the first and the last offset or run end. Of Valid first
	// is the number of set bits.
	first, last int64
}

// nothing is the outcome while nothing has been found.
var nothing = outcome{bad: -1}

// span is elements from up to to of something that is read.
type span struct{ from, to, width int }

// entry is one check of a batch.
type entry struct {
	name string
	// err is why the check cannot be made.
	err error
	// check is nil where there is nothing to look at.
	check check
	// known is the outcome where there is nothing to look at.
	known outcome
	// origin is the number of the first element in its buffer.
	origin int
	// conclude, if there is one, judges what was learned or is known.
	conclude func(o outcome) *ElementError
}

func (b *Batch) add(e entry) Check {
	if e.err != nil {
		e.err = fmt.Errorf("%s: %w", e.name, e.err)
		e.check = nil
	}
	e.known.bad = -1
	b.entries = append(b.entries, e)
	return Check(len(b.entries) - 1)
}

// Results are the answers to the checks of a batch.
type Results struct{ outcomes []outcome }

// First returns the first of the offsets or run ends of a check, and zero where
// there were none to look at.
func (r Results) First(c Check) int64 { return r.at(c).first }

// Last returns the last of the offsets or run ends of a check, and zero where
// there were none to look at. For offsets it is how much of the data is used.
func (r Results) Last(c Check) int64 { return r.at(c).last }

// Valid returns how many slots were not null, for a check of [Batch.Valid].
func (r Results) Valid(c Check) int64 { return r.at(c).first }

func (r Results) at(c Check) outcome {
	if c < 0 || int(c) >= len(r.outcomes) {
		return outcome{}
	}
	return r.outcomes[c]
}

// Run makes all checks, after the work that is on the stream and what other
// streams were given to do with the buffers. It waits for the answers, or until
// the context is done. Where elements are wrong the error is an [*ElementError] of
// the first check, in the order in which they were added, that found one. Without
// anything to look at Run does nothing. The batch keeps its checks and may be run
// again.
func (b *Batch) Run(ctx context.Context) (Results, error) {
	outcomes := make([]outcome, len(b.entries))
	err := b.run(ctx, outcomes)
	if err == nil {
		err = b.judge(ctx, outcomes)
	}
	if err != nil {
		return Results{}, err
	}
	return Results{outcomes}, nil
}
