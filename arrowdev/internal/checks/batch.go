package checks

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Batch collects checks and runs them with one wait at the end. Methods that add a
// check only record it; Run reports invalid arguments.
//
// # Ownership
//
// All buffers are on the device of the batch's manager. A Batch holds no references:
// the buffers must live until Run returns. It is not safe for concurrent use.
type Batch struct {
	manager *memory.Manager
	stream  *device.Stream
	entries []entry
}

// NewBatch returns an empty batch, which costs nothing. The manager allocates the small
// result memory on a GPU. A nil stream means that of the manager.
func NewBatch(m *memory.Manager, stream *device.Stream) *Batch {
	if stream == nil {
		stream = m.Stream()
	}
	return &Batch{manager: m, stream: stream}
}

// Check identifies a check of one batch in its [Results].
type Check int

// Len returns the number of added checks.
func (b *Batch) Len() int { return len(b.entries) }

// Reset empties the batch for reuse. The results of its checks stay valid.
func (b *Batch) Reset() {
	clear(b.entries)
	b.entries = b.entries[:0]
}

// check is one kind of check on one array.
type check interface {
	// reads lists the memory it reads.
	reads() []Buffer
	// table returns numbers that the kernel needs in device memory.
	table() []int64
	// kernel returns the launch of the check.
	kernel(table memory.Slice[int64], result memory.Slice[int64]) launch
	// onHost checks the bytes of the buffers and returns the outcome.
	onHost(read [][]byte) outcome
	// peek returns the parts of the buffers that explain element bad, which may be
	// empty; explain formats the reason from their bytes.
	peek(bad int) []span
	explain(bad int, read [][]byte) (value int64, reason string)
}

// outcome is the result of a check. Its layout is struct Result of search.cuh.
type outcome struct {
	// bad is the first wrong element, counted from the first that was checked, or -1.
	bad int64
	// first and last are the first and the last offset or run end. For Valid, first is
	// the number of set bits.
	first, last int64
}

// noOutcome is the outcome of a check without errors.
var noOutcome = outcome{bad: -1}

// span is elements from up to to of a buffer.
type span struct{ from, to, width int }

// entry is one check of a batch.
type entry struct {
	name string
	// err is the reason why the check cannot run.
	err error
	// check is nil if no element must be checked.
	check check
	// known is the outcome if no element must be checked.
	known outcome
	// origin is the number of the first element in its buffer.
	origin int
	// conclude finds errors in the outcome of a check that reported no bad element. It
	// may be nil.
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

// Results are the results of the checks of a batch.
type Results struct{ outcomes []outcome }

// First returns the first of the offsets or run ends of a check, or zero if it had no
// elements.
func (r Results) First(c Check) int64 { return r.at(c).first }

// Last returns the last of the offsets or run ends of a check, or zero if it had no
// elements. For offsets it is the used length of the data.
func (r Results) Last(c Check) int64 { return r.at(c).last }

// Valid returns the number of slots that were not null, for a check of [Batch.Valid].
func (r Results) Valid(c Check) int64 { return r.at(c).first }

func (r Results) at(c Check) outcome {
	if c < 0 || int(c) >= len(r.outcomes) {
		return outcome{}
	}
	return r.outcomes[c]
}

// Run runs all checks, after the work on the stream and after the recorded uses of the
// buffers on other streams. The batch keeps its checks and may run again.
//
// # Errors
//
// If elements are wrong, the error is an [*ElementError] for the first failing check in
// the order in which they were added.
//
// # Waiting
//
// Run waits for the results, or until the context ends. Without elements to check it
// does nothing.
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
