package join

import (
	"errors"
	"sort"

	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/memory"
)

// each runs f for parts of n rows on several goroutines.
func (r *run) each(n int, f func(begin, end int)) error {
	return parallel.Run(r.call.Context(), n, parallel.Parts(n), func(_, begin, end int) { f(begin, end) })
}

// spansOnHost writes the lengths of the spans from lows to highs, and zero for rows that
// have no bit, if there are bits.
func (r *run) spansOnHost(counts, lows, highs memory.Slice[uint32], bits memory.Slice[uint8]) error {
	count, countErr := counts.Host()
	low, lowErr := lows.Host()
	high, highErr := highs.Host()
	valid, validErr := bits.Host()
	if err := errors.Join(countErr, lowErr, highErr, validErr); err != nil {
		return err
	}
	return r.each(len(count), func(begin, end int) {
		for i := begin; i < end; i++ {
			count[i] = 0
			if (len(valid) == 0 || valid[i/8]>>(i%8)&1 != 0) && high[i] > low[i] {
				count[i] = high[i] - low[i]
			}
		}
	})
}

// rows returns the number of pairs of a row with a number of matches.
func (f form) rows(matches uint32) int64 {
	switch f {
	case everyMatchOrNone:
		return int64(max(matches, 1))
	case anyMatch:
		return int64(min(matches, 1))
	case noMatch:
		return int64(1 - min(matches, 1))
	}
	return int64(matches)
}

// hostMatches are the first matches and the numbers of matches of rows.
type hostMatches struct{ first, count []uint32 }

func (m *matches) host() (h hostMatches, err error) {
	var firstErr, countErr error
	h.first, firstErr = m.first.Host()
	h.count, countErr = m.count.Host()
	return h, errors.Join(firstErr, countErr)
}

// matchCount returns the number of matches of a row.
func (h hostMatches) matchCount(row int) uint32 {
	switch {
	case len(h.count) > 0:
		return h.count[row]
	case h.first[row] != noRow:
		return 1
	}
	return 0
}

// pairOnHost writes the pairs of single matches, and returns their number.
func (r *run) pairOnHost(m *matches, p *pairs) (int, error) {
	first, firstErr := m.first.Host()
	probe, probeErr := p.probe.Host()
	build, buildErr := p.build.Host()
	if err := errors.Join(firstErr, probeErr, buildErr, r.waitIdle()); err != nil {
		return 0, err
	}
	parts := parallel.Parts(m.probe)
	ends := make([]int, parts)
	err := parallel.Run(r.call.Context(), m.probe, parts, func(part, begin, end int) {
		for _, row := range first[begin:end] {
			if row != noRow {
				ends[part]++
			}
		}
	})
	if err != nil {
		return 0, err
	}
	for part := 1; part < parts; part++ {
		ends[part] += ends[part-1]
	}
	return ends[parts-1], parallel.Run(r.call.Context(), m.probe, parts, func(part, begin, end int) {
		at := 0
		if part > 0 {
			at = ends[part-1]
		}
		for row := begin; row < end; row++ {
			if first[row] != noRow {
				probe[at], build[at] = uint32(row), first[row]
				at++
			}
		}
	})
}

// countOnHost writes the number of pairs of each row.
func (r *run) countOnHost(m *matches, f form, out op.Buffers) error {
	matched, foundErr := m.host()
	to, err := out.Host()
	if err := errors.Join(foundErr, err); err != nil {
		return err
	}
	pairs := op.Elements[int64](to.Values)
	return r.each(m.probe, func(begin, end int) {
		for i := begin; i < end; i++ {
			pairs[i] = f.rows(matched.matchCount(i))
		}
	})
}

// expandOnHost writes pairs from a number on. The pairs of each row end at ends.
func (r *run) expandOnHost(m *matches, ends memory.Slice[int64], skipped int64, p *pairs) error {
	end, endErr := ends.Host()
	matched, matchedErr := m.host()
	list, listErr := m.list.Host()
	probe, probeErr := p.probe.Host()
	build, buildErr := p.build.Host()
	if err := errors.Join(endErr, matchedErr, listErr, probeErr, buildErr, r.waitIdle()); err != nil {
		return err
	}
	return r.each(p.rows, func(from, to int) {
		at, stop := skipped+int64(from), skipped+int64(to)
		row := sort.Search(len(end), func(i int) bool { return end[i] > at })
		for ; at < stop; row++ {
			begin := int64(0)
			if row > 0 {
				begin = end[row-1]
			}
			for ; at < min(end[row], stop); at++ {
				buildRow := uint32(noRow)
				if match := uint32(at - begin); match < matched.matchCount(row) {
					buildRow = matched.first[row] + match
					if len(list) > 0 {
						buildRow = list[buildRow]
					}
				}
				probe[at-skipped], build[at-skipped] = uint32(row), buildRow
			}
		}
	})
}

// markOnHost marks the rows that pairs have.
func markOnHost(k *marks, p *pairs) error {
	build, buildErr := p.build.Host()
	marked, err := k.marked.Host()
	if err := errors.Join(buildErr, err); err != nil {
		return err
	}
	for _, row := range build[:p.rows] {
		if row != noRow {
			marked[row] = 1
		}
	}
	return nil
}

// unmarkedOnHost writes all numbers, and a bit for each row without a mark.
func unmarkedOnHost(k *marks) error {
	numbers, numbersErr := k.rows.Host()
	marked, markedErr := k.marked.Host()
	bits, bitsErr := k.missing.Host()
	if err := errors.Join(numbersErr, markedErr, bitsErr); err != nil {
		return err
	}
	clear(bits)
	for i := range numbers {
		numbers[i] = uint32(i)
		if marked[i] == 0 {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return nil
}

// runsOnHost writes the first element and the length of each run of equal numbers.
func (r *run) runsOnHost(m *matches, probe memory.Slice[uint32]) error {
	rows, rowsErr := probe.Host()
	first, firstErr := m.first.Host()
	count, countErr := m.count.Host()
	if err := errors.Join(rowsErr, firstErr, countErr); err != nil {
		return err
	}
	for i, row := range rows {
		if count[row] == 0 {
			first[row] = uint32(i)
		}
		count[row]++
	}
	return nil
}

// sharedOnHost writes the left rows and, if they are missing, the right rows, counted from
// the end of the left ones.
func (r *run) sharedOnHost(out, left, right memory.Slice[uint32]) error {
	to, toErr := out.Host()
	lefts, leftErr := left.Host()
	rights, rightErr := right.Host()
	if err := errors.Join(toErr, leftErr, rightErr); err != nil {
		return err
	}
	behind := uint32(rowsOf(r.left))
	return r.each(len(to), func(begin, end int) {
		for i := begin; i < end; i++ {
			if to[i] = lefts[i]; to[i] == noRow {
				to[i] = behind + rights[i]
			}
		}
	})
}

// numbersOnHost writes numbers as int64, with noRow as null.
func numbersOnHost(out op.Buffers, rows memory.Slice[uint32], n int) error {
	from, err := rows.Host()
	if err != nil {
		return err
	}
	to, err := out.Host()
	if err != nil {
		return err
	}
	numbers := op.Elements[int64](to.Values)
	for i, row := range from[:n] {
		numbers[i] = int64(row)
		if len(to.Valid) > 0 && row != noRow {
			to.SetValid(i)
		}
	}
	return nil
}
