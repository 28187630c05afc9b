package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// built is the build side of a join: a table of the rows, or the keys sorted if they do not fit
// 64 bits.
type built struct {
	table  *table
	sorted *sortedRows

	held release.Stack
}

// Release releases what the build side holds.
func (b *built) Release() error {
	if b == nil {
		return nil
	}
	return errors.Join(b.table.Release(), b.held.Release())
}

// buildSide prepares the rows of the build side. The encoding is nil for keys that do not
// fit 64 bits. The caller releases the result.
func (s *sides) buildSide(e *encoding, keys []*column.Column, probed int) (*built, error) {
	b := &built{}
	err := func() error {
		if e == nil {
			table, _, err := keyTable(&b.held, keys)
			if err != nil {
				return err
			}
			b.sorted, err = sortRows(s.call, &b.held, table, orderKeys(len(keys)))
			return err
		}
		w, err := e.words(s.call, 1, keys)
		if err != nil {
			return err
		}
		b.table, err = newFilledTable(s.call, w, probed, s.options.Kind.leftOnly() && s.options.Where.IsZero())
		return err
	}()
	if err != nil {
		return nil, errors.Join(err, b.Release())
	}
	return b, nil
}

// probeSide finds the matches of rows in the build side, which has to stay as long as
// they are used. The caller releases them.
func (s *sides) probeSide(b *built, e *encoding, keys []*column.Column) (*matches, error) {
	if b.table == nil {
		return b.sorted.match(s.call, keys)
	}
	w, err := e.words(s.call, 0, keys)
	if err != nil {
		return nil, err
	}
	return b.table.probe(s.call, w)
}

// match finds the matches of the keys.
func (s *sides) match(probesRight bool) (*matches, error) {
	probe, build, probeKeys, buildKeys := rowsOf(s.left), rowsOf(s.right), s.leftKeys, s.rightKeys
	if probesRight {
		probe, build, probeKeys, buildKeys = build, probe, buildKeys, probeKeys
	}
	switch {
	case s.options.Kind == Cross:
		return matchAll(s.call, probe, build)
	case probe == 0 || build == 0:
		return matchAll(s.call, probe, 0)
	}
	var held release.Stack
	m, err := s.matchKeys(&held, [2][]*column.Column{probeKeys, buildKeys})
	return release.OnError(m, err, held.Release())
}

// matchKeys finds the matches of the keys of the probe and the build side, which have
// rows.
func (s *sides) matchKeys(held *release.Stack, keys [2][]*column.Column) (*matches, error) {
	keys, bound, err := numbered(s.call, held, keys)
	if err != nil {
		return nil, err
	}
	e, err := newEncoding(s.call, keys, bound)
	if err != nil {
		return nil, err
	}
	held.Add(e)
	b, err := s.buildSide(e, keys[1], keys[0][0].Len())
	if err != nil {
		return nil, err
	}
	m, err := s.probeSide(b, e, keys[0])
	if err != nil {
		return nil, errors.Join(err, b.Release())
	}
	m.held.Add(b) // its list
	return m, nil
}
