package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

// matches has the rows of one table, the build side, that match each row of the other
// one, the probe side. Every kind of join, as-of joins and joins by ranges find matches
// first, and make pairs of them.
type matches struct {
	probe, build int
	// first is the place in list of the first row that matches each row of the probe
	// side, count the number of rows that do. Both have probe elements. If single is set
	// count may be empty.
	first, count memory.Slice[uint32]
	// list has rows of the build side, in ascending order for each row of the probe side.
	// If it is empty, the row at each place is the place.
	list memory.Slice[uint32]
	// single is set if no row has two matches and list is empty: first is then the match of
	// each row, or noRow. block is the memory of first.
	single bool
	block  *memory.Block
	// pending is set if the matches are not found yet: see [matches.lookUp].
	pending *lookup

	held release.Stack
}

// Release releases what the matches hold.
func (m *matches) Release() error {
	if m == nil {
		return nil
	}
	return m.held.Release()
}

// newMatches allocates first and count. The caller releases the matches.
func newMatches(c *call, probe, build int) (*matches, error) {
	block, slices, err := c.uint32s(probe, probe)
	if err != nil {
		return nil, err
	}
	m := &matches{probe: probe, build: build, first: slices[0], count: slices[1], block: block}
	m.held.Add(block)
	return m, nil
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

// fillSpans makes matches of the places from low up to high, and none for rows that are
// not valid.
func (m *matches) fillSpans(c *call, low, high, valid *column.Column) error {
	lows, lowErr := uint32sOf(low)
	highs, highErr := uint32sOf(high)
	if err := errors.Join(lowErr, highErr, c.waitIdle()); err != nil || m.probe == 0 {
		return err
	}
	var bits memory.Slice[uint8]
	if valid != nil {
		bits = valid.Buffer(1)
	}
	if err := errors.Join(m.first.CopyFrom(c.Stream, lows), c.waitIdle()); err != nil {
		return err
	}
	if c.OnHost() {
		return spansOnHost(c, m.count, lows, highs, bits)
	}
	return spansOnDevice(c, m.count, lows, highs, bits)
}

// spansOnHost writes the lengths of the spans from lows to highs, and zero for rows that
// have no bit, if there are bits.
func spansOnHost(c *call, counts, lows, highs memory.Slice[uint32], bits memory.Slice[uint8]) error {
	count, countErr := counts.Host()
	low, lowErr := lows.Host()
	high, highErr := highs.Host()
	valid, validErr := bits.Host()
	if err := errors.Join(countErr, lowErr, highErr, validErr); err != nil {
		return err
	}
	return c.each(len(count), func(begin, end int) {
		for i := begin; i < end; i++ {
			count[i] = 0
			if (len(valid) == 0 || valid[i/8]>>(i%8)&1 != 0) && high[i] > low[i] {
				count[i] = high[i] - low[i]
			}
		}
	})
}

func spansOnDevice(c *call, counts, lows, highs memory.Slice[uint32], bits memory.Slice[uint8]) error {
	return c.launch("pairs", "spans", counts.Len(), counts, lows, highs, bits, uint64(counts.Len()))
}

// lookUp finds the matches, if it has not been done. A GPU waits if the host does not know
// whether keys of the table occur twice. The rows are looked up before, as if they did not, and
// again if they do.
func (m *matches) lookUp(c *call) error {
	l := m.pending
	if l == nil {
		return nil
	}
	m.pending = nil
	decided := l.table.decided
	if err := m.find(c, l.table, l.words); err != nil || decided {
		return err
	}
	if err := l.table.decideDistinct(c); err != nil || l.table.distinct {
		return err
	}
	return m.find(c, l.table, l.words)
}

// find writes the matches of words.
func (m *matches) find(c *call, t *table, w *words) error {
	lengths := []int{w.rows}
	if m.single = !t.decided || t.distinct; !m.single {
		lengths = append(lengths, w.rows)
	}
	block, slices, err := c.uint32s(lengths...)
	if err != nil {
		return err
	}
	m.held.Add(block)
	if m.block, m.first, m.list = block, slices[0], t.list; !m.single {
		m.count = slices[1]
	}
	if c.OnHost() {
		return errors.Join(c.waitIdle(), t.probeOnHost(c, w, m))
	}
	return t.probeOnDevice(c, w, m)
}

func (t *table) probeOnDevice(c *call, w *words, m *matches) error {
	argument, err := t.argument()
	if err != nil {
		return err
	}
	return c.launch("table", "probe_rows"+w.width(), w.rows, m.first, m.count, argument, w.argument(), kernelset.Flag(!t.decided))
}
