package join

import (
	"errors"
)

// isCross reports whether all pairs of rows match.
func (f *facts) isCross() bool { return f.cross }

// isEmpty reports whether a side has no rows, so that nothing matches.
func (f *facts) isEmpty() bool { return f.probe == 0 || f.build == 0 }

// matchAll matches all rows of the build side with each row of the probe side.
func (m *matcher) matchAll(*built) (*matches, error) { return m.matchRows(m.facts.build) }

// matchNone matches no rows.
func (m *matcher) matchNone(*built) (*matches, error) { return m.matchRows(0) }

// matchRows matches all rows of the build side with each row of the probe side.
func (m *matcher) matchRows(build int) (*matches, error) {
	rows, err := newMatches(m.call, m.facts.probe, build)
	if err != nil || m.facts.probe == 0 {
		return rows, err
	}
	if err := errors.Join(rows.first.Fill(m.Stream, 0), rows.count.Fill(m.Stream, uint32(build)), m.waitIdle()); err != nil {
		return nil, errors.Join(err, rows.Release())
	}
	return rows, nil
}
