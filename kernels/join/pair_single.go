package join

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	choices "github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// mayPairSingle reports whether the pairs are those of rows with one match or none.
func (f *pairFacts) mayPairSingle() bool { return f.single && f.form == everyMatch && f.probe > 0 }

// errRepeated is the error of a strategy for rows with one match at most, if keys of the build side occur twice.
var errRepeated = errors.New("keys of the build side occur twice")

// pairSingle makes the pairs of rows that have one match or none, in one pass and in memory
// for all rows. A GPU waits for their number, and with it for whether the matches are
// right. The caller releases them.
func (m *matches) pairSingle(c *call, _ form, extra int) (*pairs, error) {
	p, err := newPairs(c, m.probe+extra)
	if err != nil {
		return nil, err
	}
	if err = m.fillSingle(c, p); err == nil {
		err = c.checkLimit(int64(p.rows))
	}
	if err != nil {
		return nil, errors.Join(err, p.Release())
	}
	p.everyRow = extra == 0 && p.rows == m.probe
	return p, nil
}

// fillSingle writes pairs.
func (m *matches) fillSingle(c *call, p *pairs) (err error) {
	if c.OnHost() {
		p.rows, err = m.pairOnHost(c, p)
	} else {
		p.rows, err = m.countSingle(c, p.out())
	}
	return err
}

// numberSingle writes the pairs of rows that have one match or none as int64, in one pass
// and in memory for all rows of the probe side. It waits for their number.
func (m *matches) numberSingle(c *call) (probe, build *column.Column, err error) {
	rows := 0
	probe, build, err = newNumbers(c, m.probe, func(out any) (err error) {
		rows, err = m.countSingle(c, out)
		return err
	})
	if err == nil {
		err = c.checkLimit(int64(rows))
	}
	if err == nil {
		probe, err = shortened(c, probe, rows)
	}
	if err == nil {
		build, err = shortened(c, build, rows)
	}
	if err != nil {
		return nil, nil, errors.Join(err, probe.Release(), build.Release())
	}
	return probe, build, nil
}

// shortened returns the first n numbers of a column, which it releases. If these are few they
// are copied, so that the memory of the others does not stay.
func shortened(c *call, numbers *column.Column, n int) (*column.Column, error) {
	if n == numbers.Len() {
		return numbers, nil
	}
	if n >= numbers.Len()/2 {
		cut, err := numbers.Slice(0, n)
		return release.OnError(cut, err, numbers.Release())
	}
	if n == 0 {
		none, err := noNumbers(c.Manager)
		return release.OnError(none, err, numbers.Release())
	}
	all, err := column.Elements[int64](numbers)
	if err != nil {
		return numbers, err
	}
	first, err := all.Slice(0, n)
	if err != nil {
		return numbers, err
	}
	cut, err := c.NewColumn(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: n}, func(out op.Buffers) error {
		return out.Values.CopyFrom(c.Stream, first.AsBytes())
	})
	return release.OnError(cut, err, numbers.Release())
}

// countSingle writes the pairs of rows that have one match or none to struct PairsOut of
// pairing.cuh on a GPU. It waits for their number and, if the host does not know it, for
// whether keys of the table occur twice. If they do the pairs are not right, and the matches
// are not single any more: then the error is errRepeated.
func (m *matches) countSingle(c *call, out any) (rows int, err error) {
	if m.pending == nil || m.pending.table.decided {
		return m.countDecided(c, out)
	}
	t := m.pending.table
	words, err := t.header()
	if err != nil {
		return 0, err
	}
	outcome, err := words.Slice(outcomeWord, outcomeWord+2)
	if err == nil {
		err = m.pairOnDevice(c, out, outcome)
	}
	if err != nil {
		return 0, err
	}
	var header [headerWords]uint64
	if err := words.Download(c.Context(), c.Stream, header[:]); err != nil {
		return 0, err
	}
	if err := t.decideFrom(c, &header); err != nil {
		return 0, err
	}
	if m.single = t.distinct; !m.single {
		return 0, errRepeated
	}
	return int(header[outcomeWord]), nil
}

func (m *matches) countDecided(c *call, out any) (int, error) {
	block, slices, err := c.Scratch(16)
	if err != nil {
		return 0, err
	}
	var outcome [2]uint64
	words, err := memory.Reinterpret[uint64](slices[0])
	if err == nil {
		err = m.pairOnDevice(c, out, words)
	}
	if err == nil {
		err = words.Download(c.Context(), c.Stream, outcome[:])
	}
	return int(outcome[0]), errors.Join(err, block.Release())
}

// matchTiles returns the number of rows of a thread that pairs rows, and that of tiles.
func matchTiles(rows int) (loads uint32, tiles int) {
	n := min(max(rows/loadRows, 1), matchLoads)
	return uint32(n), (rows + threads*n - 1) / (threads * n)
}

// pairOnDevice writes the pairs of single matches to struct PairsOut of pairing.cuh, and the
// words of their outcome. Matches that are pending are found by the first of two kernels.
func (m *matches) pairOnDevice(c *call, out any, outcome memory.Slice[uint64]) error {
	if m.pending != nil && m.probe <= aloneRows && tuningOf(c.Context()).Filter != choices.Filtered {
		return m.pending.pair(c, out, true, outcome, memory.Slice[uint8]{})
	}
	loads, tiles := matchTiles(m.probe)
	block, slices, err := c.Scratch(lookback.Bytes(uint64(tiles), 8))
	if err != nil {
		return err
	}
	err = func() error {
		if err := slices[0].Fill(c.Stream, 0); err != nil {
			return err
		}
		if l := m.pending; l != nil && l.table.filterBits > 0 {
			return l.pairFiltered(c, out, loads, tiles, outcome, slices[0])
		}
		if m.pending == nil {
			return c.launchTiles("pairs", "pair_matches", tiles, out, m.first, uint64(m.probe), loads, outcome, slices[0])
		}
		if err := m.pending.pair(c, out, false, outcome, slices[0]); err != nil {
			return err
		}
		return c.launchTiles("pairs", "compact_pairs", tiles, out, uint64(m.probe), loads, outcome, slices[0])
	}()
	return errors.Join(err, block.Release())
}

// pairOnHost writes the pairs of single matches, and returns their number.
func (m *matches) pairOnHost(c *call, p *pairs) (int, error) {
	first, firstErr := m.first.Host()
	probe, probeErr := p.probe.Host()
	build, buildErr := p.build.Host()
	if err := errors.Join(firstErr, probeErr, buildErr, c.waitIdle()); err != nil {
		return 0, err
	}
	parts := parallel.Parts(m.probe)
	ends := make([]int, parts)
	err := parallel.Run(c.Context(), m.probe, parts, func(part, begin, end int) {
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
	return ends[parts-1], parallel.Run(c.Context(), m.probe, parts, func(part, begin, end int) {
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

// pairFiltered writes the pairs of rows with a match, of few rows if the filter is of use.
func (l *lookup) pairFiltered(c *call, out any, loads uint32, tiles int, outcome memory.Slice[uint64], state memory.Slice[uint8]) error {
	t, err := l.table.argument()
	if err != nil {
		return err
	}
	return c.launchTiles("filtered", "probe_filtered"+l.words.width(), tiles, out, t, l.words.argument(), kernelset.Flag(!l.table.decided), loads, outcome, state)
}

// pair writes the pair of each row at the place of the row. With alone set one block has
// all rows; it compacts the pairs and writes the outcome.
func (l *lookup) pair(c *call, out any, alone bool, outcome memory.Slice[uint64], state memory.Slice[uint8]) error {
	t, err := l.table.argument()
	if err != nil {
		return err
	}
	blocks, threads := kernels.GridFor(l.words.rows, threads), uint32(threads)
	if alone {
		blocks, threads = device.Dim3{X: 1}, aloneThreads
	}
	return c.launchBlocks("table", "probe_pairs"+l.words.width(), blocks, threads, out, t, l.words.argument(), kernelset.Flag(!l.table.decided), kernelset.Flag(alone), outcome, state)
}
