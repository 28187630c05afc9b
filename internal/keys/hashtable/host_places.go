package hashtable

import (
	"context"
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

// Integers in a short range have a place each, so that no keys are compared.

// mostHostPlaces is the number of places at most: a table of them has 1 MiB.
const mostHostPlaces = 1 << 18

// placeRange is a range of words that are ordered as signed integers of their width.
type placeRange struct{ least, greatest uint64 }

func (r placeRange) with(other placeRange) placeRange {
	return placeRange{min(r.least, other.least), max(r.greatest, other.greatest)}
}

// placePart is what a goroutine finds in part of the rows.
type placePart struct {
	placeRange
	// firsts has the first row of each place, or noRow.
	firsts    []uint32
	firstNull uint32
	err       error
}

// findPlaces finds groups of integers in a short range. It returns false if the keys are others.
func (f *finder) findPlaces(ctx context.Context, n int) (ok bool, err error) {
	if f.sign == 0 || n == 0 {
		return false, nil
	}
	limit := uint64(max(1<<12, min(n, mostHostPlaces)))
	var few placePart
	if f.measure(&few, 0, min(n, hostBlock), limit); few.err != nil || few.greatest-few.least >= limit && few.least <= few.greatest {
		return false, few.err
	}
	parts := make([]placePart, parallel.Parts(n))
	if err := parallel.Run(ctx, n, len(parts), func(i, begin, end int) { f.measure(&parts[i], begin, end, limit) }); err != nil {
		return false, err
	}
	all := placeRange{math.MaxUint64, 0}
	for i := range parts {
		all, err = all.with(parts[i].placeRange), errors.Join(err, parts[i].err)
	}
	if all.least > all.greatest { // all rows are null
		all = placeRange{}
	}
	if err != nil || all.greatest-all.least >= limit {
		return false, err
	}
	if err := parallel.Run(ctx, n, len(parts), func(i, begin, end int) { f.fillPlaces(&parts[i], all, begin, end) }); err != nil {
		return false, err
	}
	return true, f.numberPlaces(ctx, parts, all, n)
}

// measure finds the range of rows. It ends early if that is longer than a limit.
func (f *finder) measure(p *placePart, from, end int, limit uint64) {
	var block [hostBlock]uint64
	p.placeRange, p.firstNull = placeRange{math.MaxUint64, 0}, noRow
	nullable := f.nullable()
	for begin := from; begin < end; begin += hostBlock {
		words := block[:min(hostBlock, end-begin)]
		if p.err = f.load(words, begin); p.err != nil {
			return
		}
		least, greatest := p.least, p.greatest
		for i, word := range words {
			if nullable && f.isNull(begin+i, word) {
				p.firstNull = min(p.firstNull, uint32(begin+i))
				continue
			}
			least, greatest = min(least, word^f.sign), max(greatest, word^f.sign)
		}
		if p.placeRange = (placeRange{least, greatest}); least <= greatest && greatest-least >= limit {
			return
		}
	}
}

// fillPlaces finds the first row of each place in part of the rows.
func (f *finder) fillPlaces(p *placePart, r placeRange, from, end int) {
	var block [hostBlock]uint64
	p.firsts = make([]uint32, r.greatest-r.least+1)
	for i := range p.firsts {
		p.firsts[i] = noRow
	}
	for begin := from; begin < end; begin += hostBlock {
		words := block[:min(hostBlock, end-begin)]
		if p.err = f.load(words, begin); p.err != nil {
			return
		}
		for i, word := range words {
			if p.firstNull != noRow && f.isNull(begin+i, word) {
				continue
			}
			if first := &p.firsts[word^f.sign-r.least]; *first == noRow {
				*first = uint32(begin + i)
			}
		}
	}
}

// numberPlaces marks the first rows, and writes the numbers of rows.
func (f *finder) numberPlaces(ctx context.Context, parts []placePart, r placeRange, n int) error {
	places, firstNull, err := parts[0].firsts, uint32(noRow), error(nil)
	for i := range parts {
		firstNull, err = min(firstNull, parts[i].firstNull), errors.Join(err, parts[i].err)
		for place, row := range parts[i].firsts {
			places[place] = min(places[place], row)
		}
	}
	if err != nil {
		return err
	}
	p := partitionsFor(n)
	defer p.release()
	errs := make([]error, len(parts))
	if err := parallel.Run(ctx, n, len(parts), func(i, begin, end int) {
		errs[i] = f.writePlaces(p.firsts[:end], places, r, firstNull != noRow, begin)
	}); err != nil {
		return err
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return f.number(ctx, p.firsts, firstNull)
}

// writePlaces writes the first row of each row's group, from a row on.
func (f *finder) writePlaces(firsts, places []uint32, r placeRange, nullable bool, from int) error {
	var block [hostBlock]uint64
	for begin := from; begin < len(firsts); begin += hostBlock {
		words := block[:min(hostBlock, len(firsts)-begin)]
		if err := f.load(words, begin); err != nil {
			return err
		}
		to := firsts[begin : begin+len(words)]
		for i, word := range words {
			if to[i] = noRow; !nullable || !f.isNull(begin+i, word) {
				to[i] = places[word^f.sign-r.least]
			}
		}
	}
	return nil
}
