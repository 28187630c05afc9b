package order

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/memory"
)

const (
	// largeRun is the number of rows from which on all goroutines sort one run.
	largeRun = 1 << 17
	// smallRun is the number of rows up to which rows are compared, instead of encoded.
	smallRun = 12
	// deepest is the number of words after which rows are compared: otherwise long strings,
	// each with another common prefix, would take one pass for each string.
	deepest = 64
)

// hostSort sorts row numbers on the host: by the first words of the rows, then, within
// the runs of equal words, by the next word in which rows of the run differ.
type hostSort struct {
	ctx   context.Context
	plan  *rowkey.Plan
	host  *rowkey.Host
	pairs pairs
	spare pairs
	// listed means that the rows are not numbered from 0.
	listed bool
}

// hostScratch returns the sizes of the memory of a sort of n rows.
func hostScratch(n int) []uint64 { return []uint64{8 * uint64(n), 8 * uint64(n), 4 * uint64(n)} }

// hostRows sorts row numbers on the host.
type hostRows struct{ *ordering }

func (h hostRows) scratch() []uint64 { return hostScratch(h.capacity) }

func (h hostRows) run(rows memory.Slice[uint32], scratch []memory.Slice[uint8]) error {
	s, err := newHostSort(h.ordering, rows, scratch, h.rows)
	if err != nil {
		return err
	}
	return s.sort()
}

// newHostSort returns the sort of n rows. It writes their numbers to rows.
func newHostSort(o *ordering, rows memory.Slice[uint32], scratch []memory.Slice[uint8], n int) (*hostSort, error) {
	s := &hostSort{ctx: o.call.Context(), plan: o.plan}
	var err error
	if s.host, err = rowkey.NewHost(o.plan); err != nil {
		return nil, err
	}
	to, rowsErr := rows.Host()
	keys, keysErr := words(scratch[0])
	spare, spareErr := words(scratch[1])
	spareRows, spareRowsErr := memory.Reinterpret[uint32](scratch[2])
	if err := errors.Join(rowsErr, keysErr, spareErr, spareRowsErr); err != nil {
		return nil, err
	}
	other, err := spareRows.Host()
	if err != nil {
		return nil, err
	}
	clear(to[n:])
	s.pairs, s.spare = pairs{keys[:n], to[:n]}, pairs{spare[:n], other[:n]}
	return s, nil
}

// words returns host memory as words.
func words(bytes memory.Slice[uint8]) ([]uint64, error) {
	slice, err := memory.Reinterpret[uint64](bytes)
	if err != nil {
		return nil, err
	}
	return slice.Host()
}

// wordPosition is a position in the words of rows that agree before it.
type wordPosition struct {
	rowkey.Position
	// at is a position in the tail of the segment, or 0 before it. ended is set after it.
	at    int
	ended bool
	// depth is the number of words before the position.
	depth int
}

// rowRange is a range of rows that agree before a position.
type rowRange struct {
	begin, end int
	from       wordPosition
}

// sort numbers the rows from 0 and sorts them.
func (s *hostSort) sort() error {
	n := len(s.pairs.rows)
	err := parallel.Run(s.ctx, n, parallel.Parts(n), func(_, begin, end int) {
		for i := begin; i < end; i++ {
			s.pairs.rows[i] = uint32(i)
		}
	})
	if err != nil {
		return err
	}
	return s.sortAll()
}

// sortListed sorts rows that are given in ascending order.
func (s *hostSort) sortListed() error {
	s.listed = true
	return s.sortAll()
}

func (s *hostSort) sortAll() error {
	for runs := []rowRange{{end: len(s.pairs.rows)}}; len(runs) > 0; {
		r := runs[len(runs)-1]
		runs = runs[:len(runs)-1]
		more, err := s.sortLarge(r)
		if err != nil {
			return err
		}
		runs = append(runs, more...)
	}
	return nil
}

// sortLarge sorts a run with all goroutines. It returns runs that are left, and large.
func (s *hostSort) sortLarge(r rowRange) ([]rowRange, error) {
	n := r.end - r.begin
	if n < 2 {
		return nil, nil
	}
	count := parallel.Parts(n)
	p, spare := s.pairs.slice(r.begin, r.end), s.spare.slice(r.begin, r.end)
	after, ok, err := s.encode(r.from, p, count)
	if err != nil || !ok {
		return nil, err
	}
	if err := radixSort(s.ctx, p, spare, count); err != nil {
		return nil, err
	}
	if s.last(after) {
		return nil, nil
	}
	return s.sortRuns(rowRange{r.begin, r.end, after})
}

// last reports whether no words come after a position.
func (s *hostSort) last(p wordPosition) bool {
	segment := &s.plan.Segments[p.Segment]
	return p.Segment == len(s.plan.Segments)-1 && p.Word >= segment.Words() && (segment.Tail == nil || p.ended)
}

// encode writes the next word in which rows may differ. It returns the position after it, or
// false if the rows are equal.
func (s *hostSort) encode(p wordPosition, to pairs, count int) (after wordPosition, ok bool, err error) {
	n := len(to.rows)
	for ; p.Segment < len(s.plan.Segments); p = (wordPosition{Position: rowkey.Position{Segment: p.Segment + 1}, depth: p.depth}) {
		segment := &s.plan.Segments[p.Segment]
		if word := p.Word; word < segment.Words() {
			p.Word, p.depth = word+1, p.depth+1
			first := p.depth == 1 && !s.listed
			return p, true, parallel.Run(s.ctx, n, count, func(_, begin, end int) {
				rows := rowkey.Rows{Listed: to.rows[begin:end]}
				if first { // the rows are still in their order
					rows = rowkey.Rows{First: begin}
				}
				s.host.Encode(p.Segment, word, rows, to.keys[begin:end])
			})
		}
		if segment.Tail != nil && !p.ended {
			return s.encodeTail(p, segment.Tail, to, count)
		}
	}
	return p, false, nil
}

// encodeTail writes the next word of a tail in which rows differ, or its lengths.
func (s *hostSort) encodeTail(p wordPosition, t *rowkey.Tail, to pairs, count int) (wordPosition, bool, error) {
	position, end, err := s.agreement(t, max(p.at, t.Skip), to.rows, count)
	if err != nil {
		return p, false, err
	}
	write := func(rows rowkey.Rows, keys []uint64) { s.host.EncodeTail(t, position, rows, keys) }
	if position >= end {
		p.ended, write = true, func(rows rowkey.Rows, keys []uint64) { s.host.EncodeLength(t, rows, keys) }
	}
	p.at, p.depth = position+s.host.TailUnits(t), p.depth+1
	return p, true, parallel.Run(s.ctx, len(to.rows), count, func(_, begin, end int) {
		write(rowkey.Rows{Listed: to.rows[begin:end]}, to.keys[begin:end])
	})
}

// agreement is [rowkey.Host.TailAgreement] in parts.
func (s *hostSort) agreement(t *rowkey.Tail, at int, rows []uint32, count int) (position, end int, err error) {
	first := int(rows[0])
	if count == 1 {
		position, end = s.host.TailAgreement(t, at, first, rows)
		return position, end, nil
	}
	positions, ends := make([]int, count), make([]int, count)
	err = parallel.Run(s.ctx, len(rows), count, func(part, begin, end int) {
		positions[part], ends[part] = s.host.TailAgreement(t, at, first, rows[begin:end])
	})
	position, end = -1, 0
	for part := range positions {
		// A part without differences ends with its own longest tail. Longer tails of other
		// parts differ from it there, unless they have only zeros.
		end = max(end, ends[part])
		if position < 0 || positions[part] < position {
			position = positions[part]
		}
	}
	return position, end, err
}

// sortRuns sorts the runs of equal keys in a sorted run, each in one goroutine. It
// returns those that are large.
func (s *hostSort) sortRuns(r rowRange) ([]rowRange, error) {
	keys := s.pairs.keys[r.begin:r.end]
	n := len(keys)
	// Runs are divided among the goroutines before one of them overwrites keys.
	count := 1
	if n >= parallel.PartRows {
		count = 8 * parallel.Parts(n)
	}
	bounds := make([]int, count+1)
	for i := 1; i <= count; i++ {
		at := max(n/count*i, bounds[i-1])
		if i == count {
			at = n
		}
		for at > 0 && at < n && keys[at] == keys[at-1] {
			at++
		}
		bounds[i] = at
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	large := make([][]rowRange, count)
	for range min(parallel.Parts(n), count) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(count) && s.ctx.Err() == nil; i = next.Add(1) - 1 {
				large[i] = s.eachRun(rowRange{r.begin + bounds[i], r.begin + bounds[i+1], r.from}, largeRun)
			}
		})
	}
	workers.Wait()
	if s.ctx.Err() != nil {
		return nil, cancel.Error(s.ctx)
	}
	var all []rowRange
	for _, runs := range large {
		all = append(all, runs...)
	}
	return all, nil
}

// eachRun sorts the runs of equal keys in a range, unless they are large: it returns
// these.
func (s *hostSort) eachRun(r rowRange, limit int) (large []rowRange) {
	keys := s.pairs.keys
	for begin := r.begin; begin < r.end; {
		end := begin + 1
		for end < r.end && keys[end] == keys[begin] {
			end++
		}
		switch n := end - begin; {
		case n >= limit:
			large = append(large, rowRange{begin, end, r.from})
		case n > 1:
			s.sortSmall(rowRange{begin, end, r.from})
		}
		begin = end
	}
	return large
}

// sortSmall sorts a run in one goroutine.
func (s *hostSort) sortSmall(r rowRange) {
	if s.ctx.Err() != nil {
		return // the caller sees it too
	}
	p := s.pairs.slice(r.begin, r.end)
	if len(p.rows) <= smallRun || r.from.depth >= deepest {
		from := r.from.Position
		sortByComparing(p.rows, func(a, b int) int { return s.host.Compare(a, b, from) })
		return
	}
	after, ok, err := s.encode(r.from, p, 1)
	if err != nil || !ok {
		return
	}
	if err := radixSort(s.ctx, p, s.spare.slice(r.begin, r.end), 1); err != nil || s.last(after) {
		return
	}
	s.eachRun(rowRange{r.begin, r.end, after}, r.end-r.begin+1)
}
