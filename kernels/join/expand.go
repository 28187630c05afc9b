package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// expand makes pairs of matches, and leaves room for extra ones behind them. The caller
// releases them.
func (m *matches) expand(c *call, f form, extra int) (*pairs, error) {
	if m.single && f == everyMatch && m.probe > 0 {
		if p, err := m.pairSingle(c, extra); p != nil || err != nil {
			return p, err
		}
	}
	if m.single && f == everyMatchOrNone && extra == 0 && m.probe > 0 {
		if err := m.lookUp(c); err != nil {
			return nil, err
		}
		if m.single {
			return m.everyRow(c)
		}
	}
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

// pairSingle makes the pairs of rows that have one match or none, in one pass and in memory
// for all rows. A GPU waits for their number, and with it for whether the matches are
// right. If they are not, there are no pairs. The caller releases them.
func (m *matches) pairSingle(c *call, extra int) (*pairs, error) {
	p, err := newPairs(c, m.probe+extra)
	if err != nil {
		return nil, err
	}
	right, err := m.fillSingle(c, p)
	if err == nil {
		err = c.checkLimit(int64(p.rows))
	}
	if err != nil || !right {
		return nil, errors.Join(err, p.Release())
	}
	p.everyRow = extra == 0 && p.rows == m.probe
	return p, nil
}

// fillSingle writes pairs, and reports whether the matches are right.
func (m *matches) fillSingle(c *call, p *pairs) (right bool, err error) {
	if c.OnHost() {
		p.rows, err = m.pairOnHost(c, p)
		return true, err
	}
	p.rows, right, err = m.countSingle(c, p.out())
	return right, err
}

// everyRow makes one pair for each row of the probe side: the matches themselves.
func (m *matches) everyRow(c *call) (*pairs, error) {
	if err := c.checkLimit(int64(m.probe)); err != nil {
		return nil, err
	}
	block, slices, err := c.uint32s(m.probe)
	if err != nil {
		return nil, err
	}
	p := &pairs{probe: slices[0], build: m.first, rows: m.probe, block: block, everyRow: true}
	if err := errors.Join(c.waitIdle(), c.numberRows(p.probe)); err != nil {
		return nil, errors.Join(err, p.Release())
	}
	if err := m.block.Retain(); err != nil {
		return nil, errors.Join(err, p.Release())
	}
	p.held.Add(m.block)
	return p, nil
}

// appendUnmatched appends a pair for each row of the build side that no pair has. The
// pairs have room for build more.
func (p *pairs) appendUnmatched(c *call, build int) error {
	if build == 0 {
		return nil
	}
	k, err := newMarks(c, build)
	if err != nil {
		return err
	}
	err = func() error {
		if err := k.mark(c, p); err != nil {
			return err
		}
		left, err := k.unmarked(c)
		if err != nil {
			return err
		}
		return errors.Join(p.appendRows(c, left), left.Release())
	}()
	return errors.Join(err, k.block.Release())
}

// appendRows appends pairs of noRow and numbers of rows.
func (p *pairs) appendRows(c *call, rows *column.Column) error {
	n := rows.Len()
	if err := c.checkLimit(int64(p.rows) + int64(n)); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	numbers, numbersErr := uint32sOf(rows)
	build, buildErr := p.build.Slice(p.rows, p.rows+n)
	probe, probeErr := p.probe.Slice(p.rows, p.rows+n)
	if err := errors.Join(numbersErr, buildErr, probeErr); err != nil {
		return err
	}
	p.rows += n
	return errors.Join(build.CopyFrom(c.Stream, numbers), probe.Fill(c.Stream, noRow))
}
