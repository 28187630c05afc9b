package order

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
	"github.com/gpuframe/gpuframe/memory"
)

// refinement orders rows with equal first words by the words that follow.
//
// Ties are the rows that are in runs of two or more with equal words so far. Each step
// encodes one more word for the ties, sorts them within their runs, writes them to their
// places in the order, and finds the ties that are left. The host waits for the number of
// these, once for each step. Few ties are sorted by all that follows at once.
type refinement struct {
	*ordering
	encoder *rowkey.Device
	// order is the result: the rows in order, so far.
	order memory.Slice[uint32]
	ties  ties
}

// ties are rows in runs. The kernels' Ties have the same fields.
type ties struct {
	block *memory.Block
	// count is the number of ties, runs that of runs, and unfinished that of ties in runs
	// that have not reached the end of a tail.
	count, runs, unfinished int
	// slots are the places of the ties in the order; rows are in that order.
	slots, rows, numbers memory.Slice[uint32]
	// firsts is the first tie of each run, places the place of each run in the tail.
	firsts memory.Slice[uint32]
	places memory.Slice[uint64]
}

const tieRows = 2048 // of a tile: see ties.cuh

// wordsInOrder are words, from which ties are found.
type wordsInOrder struct {
	words   memory.Slice[uint8]
	width   int
	n       int
	counted memory.Slice[int64]
	// rows are the rows in order. slots and numbers belong to ties, and are empty for all
	// rows.
	rows, slots, numbers memory.Slice[uint32]
	// places, if there are any, advance by step. Otherwise all runs begin at place.
	places      memory.Slice[uint64]
	place, step uint64
	// drop drops the runs that are at the end of the tail.
	drop bool
}

func (r *refinement) run(first memory.Slice[uint8]) error {
	segment := &r.plan.Segments[0]
	err := r.find(wordsInOrder{
		words: first, width: segment.Width(), n: r.rows, counted: r.counted, rows: r.order, place: tailPlace(segment),
	})
	if err != nil {
		return err
	}
	word := 1
	for s := range r.plan.Segments {
		segment := &r.plan.Segments[s]
		for ; word < segment.Words() && r.ties.count > 0; word++ {
			if r.sortsFew(r.ties.count) {
				return r.sortFew(s, word)
			}
			if err := r.byWord(s, word); err != nil {
				return err
			}
		}
		word = 0
		if segment.Tail == nil {
			continue
		}
		last := s == len(r.plan.Segments)-1
		for r.ties.count > 0 && r.ties.unfinished > 0 {
			if r.sortsFew(r.ties.count) {
				return r.sortFew(s, segment.Words())
			}
			if err := r.byTail(segment.Tail, last); err != nil {
				return err
			}
		}
	}
	return nil
}

// tailPlace returns the place in the tail of a segment after its words.
func tailPlace(s *rowkey.Segment) uint64 {
	if s.Tail == nil {
		return 0
	}
	return uint64(s.Tail.Skip)
}

// byWord sorts the ties by a word of a segment.
func (r *refinement) byWord(number, word int) error {
	segment := &r.plan.Segments[number]
	return r.step(segment.Width(), segment.WordLength(word), func(to memory.Slice[uint8]) error {
		return r.encoder.Encode(number, word, rowkey.DeviceRows{Listed: r.ties.rows, Rows: r.ties.count}, to)
	}, wordsInOrder{place: tailPlace(segment)})
}

// byTail sorts the ties by the first eight bytes of the tail that differ in their run.
func (r *refinement) byTail(tail *rowkey.Tail, last bool) error {
	t := &r.ties
	runs := rowkey.Runs{Rows: t.rows, Runs: t.numbers, Firsts: t.firsts, Places: t.places, Count: t.runs}
	block, scratch, err := r.call.Scratch(uint64(t.runs)*8, uint64(t.runs)*8)
	if err != nil {
		return err
	}
	err = errors.Join(r.encoder.Agree(tail, runs, scratch[0], scratch[1]), block.Release())
	if err != nil {
		return err
	}
	return r.step(8, rowkey.WordBits, func(to memory.Slice[uint8]) error { return r.encoder.EncodeTails(tail, runs, to) },
		wordsInOrder{places: t.places, step: uint64(r.encoder.TailUnits(tail)), drop: last})
}

// step sorts the ties by a word that encode writes, and finds the ties that are left.
func (r *refinement) step(width, length int, encode func(to memory.Slice[uint8]) error, next wordsInOrder) (err error) {
	if err := cancel.Error(r.call.Context()); err != nil {
		return err
	}
	n := r.ties.count
	byWord := radix.Sort{Width: 8 * width, High: length, Rows: n, Numbers: radix.RowNumbers}
	byRun := radix.Sort{Width: 32, High: max(bitsFor(r.ties.runs), 1), Rows: n, Numbers: radix.GivenNumbers, DropKeys: true}
	manyRuns := r.ties.runs > 1
	state := byWord.StateBytes()
	if manyRuns {
		state = max(state, byRun.StateBytes())
	}
	keys, numbers := uint64(n)*8, uint64(n)*4
	block, scratch, err := r.call.Scratch(keys, keys, keys, numbers, numbers, numbers, state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	if err := encode(scratch[0]); err != nil {
		return err
	}
	// The sort overwrites its input, but the words are needed in the order of the runs.
	buffers := radix.Buffers{Keys: [2]memory.Slice[uint8]{scratch[1], scratch[2]}, Numbers: [2]memory.Slice[uint8]{scratch[3], scratch[4]}, State: scratch[6]}
	if err := buffers.Keys[byWord.Source()].CopyFrom(r.call.Stream, scratch[0]); err != nil {
		return err
	}
	if err := byWord.Run(&r.call, buffers); err != nil {
		return err
	}
	order, err := memory.Reinterpret[uint32](scratch[3])
	if err != nil {
		return err
	}
	if manyRuns {
		if byRun.Source() == 1 {
			buffers.Numbers[0], buffers.Numbers[1] = scratch[4], scratch[3]
		}
		if err := r.launchTies("order_runs", n, buffers.Keys[byRun.Source()], r.ties.numbers, order, uint64(n)); err != nil {
			return err
		}
		if err := byRun.Run(&r.call, buffers); err != nil {
			return err
		}
		if order, err = memory.Reinterpret[uint32](buffers.Numbers[0]); err != nil {
			return err
		}
	}
	moved, err := memory.Reinterpret[uint32](scratch[5])
	if err != nil {
		return err
	}
	err = r.launchTies(moveNames[width/8], n, r.order, moved, scratch[1], scratch[0], r.ties.slots, r.ties.rows, order, uint64(n))
	if err != nil {
		return err
	}
	next.words, next.width, next.n, next.rows, next.slots, next.numbers = scratch[1], width, n, moved, r.ties.slots, r.ties.numbers
	return r.find(next)
}

var (
	moveNames = [2]string{"order_move_32", "order_move_64"}
	tieNames  = [2]string{"order_ties_32", "order_ties_64"}
)

// find replaces the ties by those of words in order. It counts them first, so that their
// memory is as large as they need.
func (r *refinement) find(in wordsInOrder) (err error) {
	tiles := (in.n + tieRows - 1) / tieRows
	const totalBytes = 256
	block, scratch, err := r.call.Scratch(totalBytes + lookback.Bytes(uint64(tiles), 8))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	whole := scratch[0]
	totals, err := whole.Slice(0, 24)
	if err != nil {
		return err
	}
	state, err := whole.Slice(totalBytes, whole.Len())
	if err != nil {
		return err
	}
	f, err := r.call.Kernel(&tieKernels, "ties", tieNames[in.width/8])
	if err != nil {
		return err
	}
	launch := func(out *ties) error {
		if err := whole.Fill(r.call.Stream, 0); err != nil {
			return err
		}
		l := tiesLayout{slots: out.slots, rows: out.rows, runs: out.numbers, firsts: out.firsts, places: out.places}
		return f.Launch(r.call.Stream, device.Dim3{X: uint32(tiles)}, device.Dim3{X: tieThreads}, 0,
			in.words, in.counted, int64(in.n), in.slots, in.rows, in.numbers, in.places, in.place, in.step, kernelset.Flag(in.drop),
			l.asArgument(), totals, state)
	}
	if err := launch(&ties{}); err != nil {
		return err
	}
	counted, err := memory.Reinterpret[uint64](totals)
	if err != nil {
		return err
	}
	var counts [3]uint64
	if err := counted.Download(r.call.Context(), r.call.Stream, counts[:]); err != nil {
		return err
	}
	remaining := ties{count: int(counts[0]), runs: int(counts[1]), unfinished: int(counts[2])}
	if remaining.count > 0 {
		if err := remaining.allocate(r.ordering); err != nil {
			return err
		}
		if err := launch(&remaining); err != nil {
			return errors.Join(err, remaining.block.Release())
		}
	}
	before := r.ties.block
	r.ties = remaining
	return before.Release()
}

func (t *ties) allocate(o *ordering) error {
	rows, runs := uint64(t.count)*4, uint64(t.runs)
	block, scratch, err := o.call.Scratch(rows, rows, rows, runs*4, runs*8)
	if err != nil {
		return err
	}
	for i, to := range []*memory.Slice[uint32]{&t.slots, &t.rows, &t.numbers, &t.firsts} {
		if *to, err = memory.Reinterpret[uint32](scratch[i]); err != nil {
			return errors.Join(err, block.Release())
		}
	}
	if t.places, err = memory.Reinterpret[uint64](scratch[4]); err != nil {
		return errors.Join(err, block.Release())
	}
	t.block = block
	return nil
}
