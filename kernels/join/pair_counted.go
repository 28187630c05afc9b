package join

import (
	"errors"
	"sort"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// sequence is all pairs of matches in order, which are made in parts.
type sequence struct {
	matches *matches
	// ends is on the host the number of pairs of the rows up to each row of the probe side,
	// as int64. A pair list without rows has none.
	ends *column.Column
	// sums is on a GPU that of the rows with pairs, struct Sums of pairing.cuh, and rows their
	// number.
	sums  any
	rows  int
	block *memory.Block
	// total is the number of pairs.
	total int64
}

// Release releases the numbers of pairs, not the matches.
func (s *sequence) Release() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.ends.Release(), s.block.Release())
}

// newSequence counts the pairs of matches. It waits for their number. The caller releases it.
func newSequence(c *call, m *matches, f form) (*sequence, error) {
	s := &sequence{matches: m}
	if m.probe == 0 {
		return s, nil
	}
	if !c.OnHost() {
		return release.OnError(s, s.sumOnDevice(c, f))
	}
	err := m.lookUp(c)
	if err != nil {
		return nil, err
	}
	if s.ends, err = m.ends(c, f); err != nil {
		return nil, err
	}
	numbers, err := column.Elements[int64](s.ends)
	var total [1]int64
	if err == nil {
		err = numbers.DownloadRange(c.Context(), c.Stream, m.probe-1, total[:])
	}
	if err != nil {
		return nil, errors.Join(err, s.Release())
	}
	s.total = total[0]
	return s, nil
}

// ends returns on the host the number of pairs of the rows up to each row of the probe side,
// as int64.
func (m *matches) ends(c *call, f form) (*column.Column, error) {
	call := c.Call
	call.Tag = op.ScratchTag
	counts, err := call.NewColumn(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: m.probe}, func(out op.Buffers) error {
		return m.countOnHost(c, f, out)
	})
	if err != nil {
		return nil, err
	}
	ends, err := window.CumulativeSum(c.Context(), counts, window.Options{Options: c.scratch()})
	return release.OnError(ends, err, counts.Release())
}

// expandPart makes n pairs from a number on, with room for extra ones behind them. The
// caller releases them.
func (s *sequence) expandPart(c *call, from int64, n, extra int) (*pairs, error) {
	p, err := newPairs(c, n+extra)
	if err != nil {
		return nil, err
	}
	if p.rows = n; n == 0 {
		return p, nil
	}
	if !c.OnHost() {
		return release.OnError(p, s.expandOnDevice(c, from, n, p.out()))
	}
	ends, err := column.Elements[int64](s.ends)
	if err == nil {
		err = s.matches.expandOnHost(c, ends, from, p)
	}
	return release.OnError(p, err)
}

// sumOnDevice sums the pairs of rows, and waits for the sum. Matches that are pending are found
// by the same kernel.
func (s *sequence) sumOnDevice(c *call, f form) error {
	m := s.matches
	loads, tiles := matchTiles(m.probe)
	file, entry, arguments := "pairs", "sum_matches", []any{m.first, m.count}
	if l := m.pending; l != nil {
		if err := l.table.decideDistinct(c); err != nil {
			return err
		}
		t, err := l.table.argument()
		if err != nil {
			return err
		}
		m.list = l.table.list
		file, entry = "table", "probe_sums"+l.words.width()
		arguments = []any{t, l.words.argument(), kernelset.Flag(l.table.distinct), uint32(f)}
	} else {
		arguments = append(arguments, uint32(f), uint64(m.probe))
	}
	n := uint64(m.probe)
	sums, slices, err := c.Scratch(4*n, 4*n, 8*n)
	if err != nil {
		return err
	}
	l := sumsLayout{rows: kernels.Output(slices[0]), firsts: kernels.Output(slices[1]), ends: kernels.Output(slices[2])}
	s.block, s.sums = sums, l.asArgument()
	block, scratch, err := c.Scratch(lookback.Bytes(uint64(tiles), 16), 16)
	if err != nil {
		return err
	}
	err = func() error {
		if err := scratch[0].Fill(c.Stream, 0); err != nil {
			return err
		}
		arguments = append(append([]any{s.sums}, arguments...), loads, scratch[1], scratch[0])
		if err := c.launchTiles(file, entry, tiles, arguments...); err != nil {
			return err
		}
		words, err := memory.Reinterpret[uint64](scratch[1])
		if err != nil {
			return err
		}
		var totals [2]uint64 // struct Totals of pairing.cuh
		err = words.Download(c.Context(), c.Stream, totals[:])
		s.total, s.rows = int64(totals[0]), int(totals[1])
		return err
	}()
	return errors.Join(err, block.Release())
}

// expandOnDevice writes n pairs from a number on to struct PairsOut of pairing.cuh.
func (s *sequence) expandOnDevice(c *call, from int64, n int, out any) error {
	return c.launchBlocks("pairs", "expand_pairs", kernels.GridFor(n, tilePairs), threads,
		out, s.sums, s.matches.list, uint64(s.rows), uint64(from), uint64(n))
}

// countOnHost writes the number of pairs of each row.
func (m *matches) countOnHost(c *call, f form, out op.Buffers) error {
	matched, foundErr := m.host()
	to, err := out.Host()
	if err := errors.Join(foundErr, err); err != nil {
		return err
	}
	pairs := op.Elements[int64](to.Values)
	return c.each(m.probe, func(begin, end int) {
		for i := begin; i < end; i++ {
			pairs[i] = f.rows(matched.matchCount(i))
		}
	})
}

// expandOnHost writes pairs from a number on. The pairs of each row end at ends.
func (m *matches) expandOnHost(c *call, ends memory.Slice[int64], skipped int64, p *pairs) error {
	end, endErr := ends.Host()
	matched, matchedErr := m.host()
	list, listErr := m.list.Host()
	probe, probeErr := p.probe.Host()
	build, buildErr := p.build.Host()
	if err := errors.Join(endErr, matchedErr, listErr, probeErr, buildErr, c.waitIdle()); err != nil {
		return err
	}
	return c.each(p.rows, func(from, to int) {
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

// pairCounted makes all pairs, after it has counted them. The caller releases them.
func (m *matches) pairCounted(c *call, f form, extra int) (*pairs, error) {
	s, err := newSequence(c, m, f)
	if err != nil {
		return nil, err
	}
	p, err := func() (*pairs, error) {
		if err := c.checkLimit(s.total); err != nil {
			return nil, err
		}
		return s.expandPart(c, 0, int(s.total), extra)
	}()
	return release.OnError(p, err, s.Release())
}

// numberCounted writes all pairs as int64 without nulls, after it has counted them.
func (m *matches) numberCounted(c *call) (probe, build *column.Column, err error) {
	s, err := newSequence(c, m, everyMatch)
	if err == nil {
		err = c.checkLimit(s.total)
	}
	if err == nil && s.total == 0 {
		probe, err = noNumbers(c.Manager)
		if err == nil {
			build, err = noNumbers(c.Manager)
		}
	} else if err == nil {
		probe, build, err = newNumbers(c, int(s.total), func(out any) error { return s.expandOnDevice(c, 0, int(s.total), out) })
	}
	return probe, build, errors.Join(err, s.Release())
}

// pairScratch returns a bound of the memory of matches and pairs. The matches are found twice if a first try fails; the
// pairs are those of all rows of the probe side, or counted before.
func pairScratch(probe, rows, extra uint64) uint64 {
	return 12*probe + max(8*(probe+extra), 18*probe+8*(rows+extra)) + 12*extra
}
