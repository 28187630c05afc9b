package join

import (
	"errors"
)

// mayPairEveryRow reports whether each row of the probe side is in one pair, and there are no others.
func (f *pairFacts) mayPairEveryRow() bool {
	return f.single && f.form == everyMatchOrNone && !f.extra && f.probe > 0
}

// pairEveryRow makes one pair for each row of the probe side: the matches themselves.
func (m *matches) pairEveryRow(c *call, _ form, _ int) (*pairs, error) {
	if err := m.lookUp(c); err != nil {
		return nil, err
	}
	if !m.single {
		return nil, errRepeated
	}
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
