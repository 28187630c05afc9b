package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/internal/op/lookback"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/memory"
)

// countSingle writes the pairs of rows that have one match or none to struct PairsOut of
// pairing.cuh on a GPU. It waits for their number and, if the host does not know it, for
// whether keys of the table occur twice. If they do the pairs are not right, and the matches
// are not single any more.
func (m *matches) countSingle(c *call, out any) (rows int, right bool, err error) {
	if m.pending == nil || m.pending.table.decided {
		rows, err = m.countDecided(c, out)
		return rows, true, err
	}
	t := m.pending.table
	words, err := t.header()
	if err != nil {
		return 0, false, err
	}
	outcome, err := words.Slice(outcomeWord, outcomeWord+2)
	if err == nil {
		err = m.pairOnDevice(c, out, outcome)
	}
	if err != nil {
		return 0, false, err
	}
	var header [headerWords]uint64
	if err := words.Download(c.Context(), c.Stream, header[:]); err != nil {
		return 0, false, err
	}
	if err := t.decideFrom(c, &header); err != nil || !t.distinct {
		m.single = false
		return 0, false, err
	}
	return int(header[outcomeWord]), true, nil
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
	if m.pending != nil && m.probe <= aloneRows {
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
