package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// facts returns the facts that need no pass over the rows.
func (s *sides) facts(probe, build int) facts {
	kind := s.options.Kind
	return facts{
		tuning: tuningOf(s.Context()), onHost: s.OnHost(), cross: len(s.leftKeys)+len(s.rightKeys) == 0, probe: probe, build: build,
		distinct: kind.leftOnly() && s.options.Where.IsZero(),
	}
}

// match finds the matches of the keys.
func (s *sides) match(probesRight bool) (*matches, error) {
	m := matcher{call: s.call, keys: [2][]*column.Column{s.leftKeys, s.rightKeys}, facts: s.facts(rowsOf(s.left), rowsOf(s.right))}
	if probesRight {
		m.keys[0], m.keys[1], m.facts.probe, m.facts.build = m.keys[1], m.keys[0], m.facts.build, m.facts.probe
	}
	rows, err := m.match()
	return release.OnError(rows, err, m.encoding.Release(), m.held.Release())
}

// match finds the matches of the keys.
func (m *matcher) match() (*matches, error) {
	if err := m.measure(); err != nil {
		return nil, err
	}
	s := chooseFinder(&m.facts).run
	if s.build == nil {
		return s.match(m, nil)
	}
	b, err := s.build(m)
	if err != nil {
		return nil, err
	}
	rows, err := s.match(m, b)
	if err != nil {
		return nil, errors.Join(err, b.Release())
	}
	rows.held.Add(b) // its list
	return rows, nil
}
