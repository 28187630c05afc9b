package window

import (
	"container/heap"
	"context"
)

// frequencies are the numbers of equal values in a frame that slides over the places of a partition.
// Frames with monotone ends move each end over each place once: the steps of all frames are as many
// as the places.
type frequencies interface {
	// add and drop change the frame by one place at its begin or at its end.
	add(place int, atBegin bool)
	drop(place int, atBegin bool)
}

// cancelEvery is the number of places between two looks at the context.
const cancelEvery = 1 << 16

// slide calls visit for each place when its frame is in the frequencies.
func (p *placedValues) slide(ctx context.Context, counts frequencies, visit func(place int)) error {
	first, end := 0, 0
	for i := range len(p.heads) - 1 {
		begin, limit := p.heads[i], p.heads[i+1]
		for ; first < end; first++ {
			counts.drop(first, true)
		}
		first, end = begin, begin
		for place := begin; place < limit; place++ {
			if place%cancelEvery == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			from, to := p.bounds(place, begin, limit)
			if from >= end || to <= first { // nothing in common
				for ; first < end; first++ {
					counts.drop(first, true)
				}
				first, end = from, from
			}
			for ; first > from; first-- {
				counts.add(first-1, true)
			}
			for ; end < to; end++ {
				counts.add(end, false)
			}
			for ; first < from; first++ {
				counts.drop(first, true)
			}
			for ; end > to; end-- {
				counts.drop(end-1, false)
			}
			visit(place)
		}
	}
	return nil
}

// bounds returns the places of the frame of a place in a partition.
func (p *placedValues) bounds(place, begin, limit int) (first, end int) {
	if p.frame.lows != nil {
		first = int(p.frame.lows[place])
		return first, max(int(p.frame.highs[place]), first)
	}
	first = min(max(place+p.frame.low, begin), limit)
	return first, max(min(place+p.frame.high+1, limit), first)
}

// mostNumber returns the greatest number of a value.
func (p *placedValues) mostNumber() (most uint32) {
	for _, n := range p.numbers {
		most = max(most, n)
	}
	return most
}

// counting counts the distinct values of a frame.
type counting struct {
	numbers, counts []uint32
	distinct        int64
	values          uint64
}

func (c *counting) add(place int, _ bool) {
	n := c.numbers[place]
	if n == 0 {
		return
	}
	c.values++
	if c.counts[n]++; c.counts[n] == 1 {
		c.distinct++
	}
}

func (c *counting) drop(place int, _ bool) {
	n := c.numbers[place]
	if n == 0 {
		return
	}
	c.values--
	if c.counts[n]--; c.counts[n] == 0 {
		c.distinct--
	}
}

// distinct returns the number of distinct values of each frame, by row, and a bitmap of the frames that have enough values.
func (p *placedValues) distinct(ctx context.Context, least uint64) (results []int64, valid []byte, err error) {
	results, valid = make([]int64, len(p.numbers)), make([]byte, (len(p.numbers)+7)/8)
	c := &counting{numbers: p.numbers, counts: make([]uint32, p.mostNumber()+1)}
	err = p.slide(ctx, c, func(place int) {
		if c.values >= least {
			row := p.row(place)
			results[row] = c.distinct
			valid[row/8] |= 1 << (row % 8)
		}
	})
	return results, valid, err
}

// occurrences are the places of a value in a frame: their number and the first one.
type occurrences struct {
	count, first uint32
}

// candidate is a value as it was when its occurrences changed.
type candidate struct {
	occurrences
	number uint32
}

// ranking finds the most frequent value of a frame: the candidates are a heap, and those that have
// changed since are dropped when they are the best.
type ranking struct {
	numbers, next []uint32
	values        []occurrences
	candidates    []candidate
	count         uint64
}

// Len implements heap.Interface.
func (r *ranking) Len() int { return len(r.candidates) }

// Less implements heap.Interface: the most frequent value is first, of equal ones the one that occurs first.
func (r *ranking) Less(i, j int) bool {
	x, y := r.candidates[i], r.candidates[j]
	return x.count > y.count || x.count == y.count && x.first < y.first
}

// Swap implements heap.Interface.
func (r *ranking) Swap(i, j int) {
	r.candidates[i], r.candidates[j] = r.candidates[j], r.candidates[i]
}

// Push implements heap.Interface.
func (r *ranking) Push(x any) { r.candidates = append(r.candidates, x.(candidate)) }

// Pop implements heap.Interface.
func (r *ranking) Pop() any {
	last := len(r.candidates) - 1
	x := r.candidates[last]
	r.candidates = r.candidates[:last]
	return x
}

func (r *ranking) add(place int, atBegin bool) {
	n := r.numbers[place]
	if n == 0 {
		return
	}
	r.count++
	v := &r.values[n]
	if v.count++; v.count == 1 || atBegin {
		v.first = uint32(place)
	}
	r.change(n)
}

func (r *ranking) drop(place int, atBegin bool) {
	n := r.numbers[place]
	if n == 0 {
		return
	}
	r.count--
	v := &r.values[n]
	if v.count--; v.count == 0 {
		return
	}
	if atBegin {
		v.first = r.next[place]
	}
	r.change(n)
}

// change adds the value as a candidate. Candidates that are no more true are dropped when they are most of all.
func (r *ranking) change(n uint32) {
	if len(r.candidates) > 4*len(r.values)+cancelEvery {
		r.candidates = r.candidates[:0]
		for number, v := range r.values {
			if v.count > 0 {
				r.candidates = append(r.candidates, candidate{v, uint32(number)})
			}
		}
		heap.Init(r)
		return
	}
	heap.Push(r, candidate{r.values[n], n})
}

// best returns the place at which the most frequent value occurs first.
func (r *ranking) best() (place int, ok bool) {
	for len(r.candidates) > 0 {
		c := r.candidates[0]
		if r.values[c.number] == c.occurrences && c.count > 0 {
			return int(c.first), true
		}
		heap.Pop(r)
	}
	return 0, false
}

// modes returns the row of the most frequent value of each frame, by row, and noRow for frames without enough values.
func (p *placedValues) modes(ctx context.Context, least uint64) ([]uint32, error) {
	results := make([]uint32, len(p.numbers))
	size := p.mostNumber() + 1
	r := &ranking{numbers: p.numbers, next: make([]uint32, len(p.numbers)), values: make([]occurrences, size)}
	following := make([]uint32, size)
	for place := len(p.numbers) - 1; place >= 0; place-- {
		n := p.numbers[place]
		r.next[place], following[n] = following[n], uint32(place)
	}
	err := p.slide(ctx, r, func(place int) {
		result := uint32(noRow)
		if best, ok := r.best(); ok && r.count >= least {
			result = uint32(p.row(best))
		}
		results[p.row(place)] = result
	})
	return results, err
}
