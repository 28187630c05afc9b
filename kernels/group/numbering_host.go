package group

import (
	"context"
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/keys/hashtable"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

// groupsOnHost returns the groups of the rows of several columns. If all are integers in ranges that 64 bits have room
// for, a row becomes one number. Otherwise rows are found by the values of all columns at once: to number the values
// of each column first would take as long for each of them.
func (f *numberer) groupsOnHost(flat []*column.Column) (numbered, error) {
	var digits []rowNumbers
	var keys []*column.Column
	places := uint64(1) // 0 if 64 bits have no room
	for _, c := range flat {
		w, err := f.range64(c)
		if err != nil {
			return nil, err
		}
		if w.bound == 1 { // all rows have one value
			continue
		}
		digits, keys = append(digits, w), append(keys, c)
		if w.bound == 0 || places > math.MaxUint64/w.bound {
			places = 0
		}
		places *= w.bound
	}
	switch {
	case len(keys) == 0:
		return f.find(flat[0])
	case len(keys) == 1:
		return f.find(keys[0])
	case places == 0:
		return hashtable.FindTogether(f.call.Context(), keys, scratchOptions(f.call))
	}
	all := digits[0]
	for _, next := range digits[1:] {
		var err error
		if all, err = f.pair(flat[0], all, next, nil); err != nil {
			return nil, err
		}
	}
	return f.find(all.column)
}

// range64 returns a column of integers without nulls as numbers with their range, or numbers without a bound for
// other columns and longer ranges.
func (f *numberer) range64(c *column.Column) (w rowNumbers, err error) {
	l, err := layout.Of(c.Type())
	if err != nil || op.Nullable(c) || l.Width > wordBytes || l.Stored() != layout.Signed && l.Stored() != layout.Unsigned {
		return w, err
	}
	n, _, err := c.Extent(f.call.Context())
	if err != nil || n == 0 {
		return w, err
	}
	if w.source, err = sourceOf(f.call, c); err != nil {
		return w, err
	}
	values, err := w.host()
	if err != nil {
		return w, err
	}
	flip := uint64(0)
	if values.form.isSigned() {
		flip = 1 << 63
	}
	parts := make([][2]uint64, parallel.Parts(n))
	err = parallel.Run(f.call.Context(), n, len(parts), func(i, from, end int) {
		parts[i] = values.extremes(from, end, flip)
	})
	least, greatest := uint64(math.MaxUint64), uint64(0)
	for _, part := range parts {
		least, greatest = min(least, part[0]), max(greatest, part[1])
	}
	if err == nil && greatest-least < math.MaxUint64 {
		w.least, w.bound = least^flip, greatest-least+1
	}
	return w, err
}

// extremes returns the least and the greatest of integers, of which some bits are flipped. It ends early if the range
// is so long that other columns do not fit 64 bits beside it.
func (s *hostSource) extremes(from, end int, flip uint64) [2]uint64 {
	least, greatest, block := uint64(math.MaxUint64), uint64(0), [blockRows]uint64{}
	for begin := from; begin < end; begin += blockRows {
		chunk := block[:min(blockRows, end-begin)]
		s.integers(chunk, begin)
		for _, x := range chunk {
			least, greatest = min(least, x^flip), max(greatest, x^flip)
		}
		if greatest-least > math.MaxUint64/2 {
			return [2]uint64{0, math.MaxUint64}
		}
	}
	return [2]uint64{least, greatest}
}

// pairOnHost writes pairs of numbers. Unless they are bounded, the low ones have 32 bits.
func pairOnHost(ctx context.Context, out op.Buffers, high, low rowNumbers, mask source, factor uint64, bounded bool, rows int) error {
	to, err := out.Host()
	if err != nil {
		return err
	}
	a, aErr := high.host()
	b, bErr := low.host()
	m, mErr := mask.host()
	if err := errors.Join(aErr, bErr, mErr); err != nil {
		return err
	}
	lowBits := uint64(1<<32 - 1)
	if bounded {
		lowBits = math.MaxUint64
	}
	pairs := op.Elements[uint64](to.Values)
	return parallel.Run(ctx, rows, parallel.Parts(rows), func(_, from, end int) {
		var block [blockRows]uint64
		for begin := from; begin < end; begin += blockRows {
			chunk := pairs[begin:min(begin+blockRows, end)]
			x := block[:len(chunk)]
			a.integers(x, begin)
			b.integers(chunk, begin)
			for i := range chunk {
				chunk[i] = (x[i]-high.least)*factor + (chunk[i]-low.least)&lowBits
			}
			if m.Valid == nil {
				continue
			}
			for i := range chunk {
				if !m.isValid(begin + i) {
					chunk[i] = math.MaxUint64
				}
			}
		}
	})
}
