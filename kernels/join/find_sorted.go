package join

import (
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// hasRows reports whether both sides have rows: any keys of these can be sorted.
func (f *facts) hasRows() bool { return !f.cross && f.probe > 0 && f.build > 0 }

// sortKeys sorts the keys of the build side.
func (m *matcher) sortKeys() (*built, error) {
	b := &built{}
	table, _, err := keyTable(&b.held, m.keys[1])
	if err == nil {
		b.sorted, err = sortRows(m.call, &b.held, table, orderKeys(len(m.keys[1])))
	}
	return release.OnError(b, err)
}

// search finds the matches of rows in sorted keys: the rows that are equal are between
// two searches.
func (m *matcher) search(b *built) (*matches, error) {
	var held release.Stack
	rows, err := func() (*matches, error) {
		probed, keys, err := keyTable(&held, m.keys[0])
		if err != nil {
			return nil, err
		}
		low, err := searchPlaces(m.call, &held, b.sorted.table, probed, keys, false)
		if err != nil {
			return nil, err
		}
		high, err := searchPlaces(m.call, &held, b.sorted.table, probed, keys, true)
		if err != nil {
			return nil, err
		}
		valid, err := validKeys(m.call, &held, probed)
		if err != nil {
			return nil, err
		}
		return b.sorted.between(m.call, low, high, valid)
	}()
	return release.OnError(rows, err, held.Release())
}
