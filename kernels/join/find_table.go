package join

import (
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// hasWords reports whether keys are words, which a hash table finds.
func (f *facts) hasWords() bool { return f.words }

// hasPlaces reports whether the keys are in a small range that is known: they are found by their places.
func (f *facts) hasPlaces() bool { return f.words && f.places > 0 && f.places <= f.room() }

// mayListPlaces reports whether the rows can be sorted by their places, so that nothing is inserted.
func (f *facts) mayListPlaces() bool { return f.hasPlaces() && !f.onHost && !f.distinct && !f.masked }

// placesRepeat reports whether there are more rows than places, so that a key occurs twice.
func (f *facts) placesRepeat() bool { return uint64(f.build) > f.places }

// mayMeasurePlaces reports whether the range of the keys is not known. Then the device measures it, and gives the keys
// places if it is small, or puts them into a hash table.
func (f *facts) mayMeasurePlaces() bool { return f.words && f.places == 0 }

func (f *facts) measuringPays() bool { return max(f.build, f.probe) >= measuredRows }

// tableScratch returns a bound of the memory of a table of the build side, and of the words of l and r rows. Rows are sorted
// by slot if it matters whether keys occur twice.
func tableScratch(l, r, build uint64, repeats bool) uint64 {
	const (
		slots  = 2*16 + 4 // two slots of the host, or four of a GPU and a filter, and the slot of the row
		sorted = 32 + 28  // the span of each place, and the rows sorted by slot
	)
	total := 10*(l+r) + slots*build // words of nine bytes, and a place with its span for probesPerPlace rows
	if repeats {
		total += sorted * build
	}
	return total
}

// keptTable is a bound of the memory for each row of a table that is kept: of the hash table of the host with words, the
// span of each place, and the rows sorted by slot.
const keptTable = 2*16 + 8 + 8*hostPlacesPerRow + 4

// listPlaces makes a table of places without inserting rows.
func (m *matcher) listPlaces() (*built, error) {
	t := m.newTable()
	t.setPlaces(m.least, m.facts.places)
	return m.complete(t, t.listPlaces(m.call))
}

// fillPlaces makes a table of places.
func (m *matcher) fillPlaces() (*built, error) {
	t := m.newTable()
	t.setPlaces(m.least, m.facts.places)
	return m.complete(t, t.fill(m.call, m.facts.distinct))
}

// measurePlaces makes a table of places, or a hash table: the device decides.
func (m *matcher) measurePlaces() (*built, error) {
	t := m.newTable()
	t.room = m.facts.room()
	return m.complete(t, t.fill(m.call, m.facts.distinct))
}

// fillHashTable makes a hash table.
func (m *matcher) fillHashTable() (*built, error) {
	t := m.newTable()
	return m.complete(t, t.fill(m.call, m.facts.distinct))
}

// newTable returns a table that takes over the words.
func (m *matcher) newTable() *table {
	t := newTable(m.call, m.words)
	t.filterBits = m.facts.filterBits()
	m.words = nil
	return t
}

// complete returns the build side of a table that was made.
func (m *matcher) complete(t *table, err error) (*built, error) {
	if err == nil && t.decided {
		err = t.finish(m.call)
	}
	return release.OnError(&built{table: t}, err)
}

// lookUp finds the matches in a table, whose list they refer to. On a GPU the rows are looked up later: see [lookup].
func (m *matcher) lookUp(b *built) (*matches, error) {
	w, err := m.encoding.words(m.call, 0, m.keys[0])
	if err != nil {
		return nil, err
	}
	t := b.table
	rows := &matches{probe: w.rows, build: t.rows, single: !t.decided || t.distinct, pending: &lookup{t, w}}
	rows.held.Add(w)
	if m.OnHost() {
		return release.OnError(rows, rows.lookUp(m.call))
	}
	return rows, nil
}
