package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
)

// expand makes pairs of matches, and leaves room for extra ones behind them. The caller
// releases them.
func (m *matches) expand(c *call, f form, extra int) (*pairs, error) {
	s := choosePairing(&pairFacts{tuning: tuningOf(c.Context()), form: f, probe: m.probe, single: m.single, extra: extra > 0})
	p, err := s.run.pair(m, c, f, extra)
	if errors.Is(err, errRepeated) {
		return m.pairCounted(c, f, extra)
	}
	return p, err
}

// number writes pairs as int64 without nulls, on a GPU.
func (m *matches) number(c *call) (probe, build *column.Column, err error) {
	s := choosePairing(&pairFacts{tuning: tuningOf(c.Context()), form: everyMatch, probe: m.probe, single: m.single})
	probe, build, err = s.run.number(m, c)
	if errors.Is(err, errRepeated) {
		return m.numberCounted(c)
	}
	return probe, build, err
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
