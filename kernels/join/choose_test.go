package join

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	choices "github.com/gpuframe/gpuframe/internal/op/strategy"
)

// TestChooseFinder requires the strategy that finds matches for facts, without a device.
func TestChooseFinder(t *testing.T) {
	chosen := map[choices.JoinStrategy]bool{}
	for _, test := range []struct {
		name string
		set  func(*facts)
		want choices.JoinStrategy
	}{
		{"all pairs", func(f *facts) { f.cross = true }, choices.AllPairs},
		{"all pairs of no rows", func(f *facts) { f.cross, f.build = true, 0 }, choices.AllPairs},
		{"no rows to probe", func(f *facts) { f.probe = 0 }, choices.NoPairs},
		{"no rows to build of", func(f *facts) { f.build, f.words = 0, false }, choices.NoPairs},

		{"integers of an unknown range", func(*facts) {}, choices.MeasuredPlaces},
		{"as few rows as are measured", func(f *facts) { f.probe, f.build = measuredRows, 10 }, choices.MeasuredPlaces},
		{"many rows to build of", func(f *facts) { f.probe, f.build = 10, measuredRows }, choices.MeasuredPlaces},
		{"fewer rows than are measured", func(f *facts) { f.probe, f.build = measuredRows-1, 10 }, choices.HashTable},
		{"a build side that is kept", func(f *facts) { f.probe, f.build = math.MaxInt, 10 }, choices.MeasuredPlaces},

		{"as many places as rows", func(f *facts) { f.places = 1 << 20 }, choices.KnownPlaces},
		{"the most places", func(f *facts) { f.places = 2 << 20 }, choices.KnownPlaces},
		{"more places", func(f *facts) { f.places = 2<<20 + 1 }, choices.HashTable},
		{"the most places of the host", func(f *facts) { f.onHost, f.places = true, 8<<20 }, choices.KnownPlaces},
		{"more places of the host", func(f *facts) { f.onHost, f.places = true, 8<<20+1 }, choices.HashTable},
		{"the most places of all tables", func(f *facts) { f.build, f.places = mostBuilt, 1<<32-2 }, choices.KnownPlaces},
		{"more places than a table has", func(f *facts) { f.build, f.places = mostBuilt, 1<<32-1 }, choices.HashTable},

		{"fewer places than rows", func(f *facts) { f.places = 1<<20 - 1 }, choices.ListedPlaces},
		{"fewer places of distinct keys", func(f *facts) { f.places, f.distinct = 100, true }, choices.KnownPlaces},
		{"fewer places and keys that match nothing", func(f *facts) { f.places, f.masked = 100, true }, choices.KnownPlaces},
		{"fewer places on the host", func(f *facts) { f.places, f.onHost = 100, true }, choices.KnownPlaces},

		{"keys without words", func(f *facts) { f.words = false }, choices.SortedKeys},
		{"keys without words on the host", func(f *facts) { f.words, f.onHost = false, true }, choices.SortedKeys},

		{"a forced hash table", func(f *facts) { f.places, f.Find = 100, choices.HashTable }, choices.HashTable},
		{"a forced hash table of keys without words", func(f *facts) { f.words, f.Find = false, choices.HashTable }, choices.SortedKeys},
		{"forced measuring of few rows", func(f *facts) { f.probe, f.build, f.Find = 10, 10, choices.MeasuredPlaces }, choices.MeasuredPlaces},
		{"forced measuring of a known range", func(f *facts) { f.places, f.Find = 100, choices.MeasuredPlaces }, choices.ListedPlaces},
		{"forced lists of places", func(f *facts) { f.places, f.Find = 1<<20, choices.ListedPlaces }, choices.ListedPlaces},
		{"forced sorted keys of no rows", func(f *facts) { f.probe, f.Find = 0, choices.SortedKeys }, choices.NoPairs},
	} {
		f := facts{probe: 1 << 22, build: 1 << 20, words: true}
		test.set(&f)
		name := chooseFinder(&f).name
		require.Equal(t, test.want, name, test.name)
		chosen[name] = true
	}
	require.Len(t, chosen, len(finders))
}

// TestMayHaveWords requires the facts for which words are made: it takes a pass over the rows, and may wait.
func TestMayHaveWords(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*facts)
		want bool
	}{
		{"rows", func(*facts) {}, true},
		{"all pairs", func(f *facts) { f.cross = true }, false},
		{"no rows to probe", func(f *facts) { f.probe = 0 }, false},
		{"no rows to build of", func(f *facts) { f.build = 0 }, false},
		{"forced sorted keys", func(f *facts) { f.Find = choices.SortedKeys }, false},
		{"a forced hash table", func(f *facts) { f.Find = choices.HashTable }, true},
	} {
		f := facts{probe: 2, build: 2}
		test.set(&f)
		require.Equal(t, test.want, f.mayHaveWords(), test.name)
	}
}

// TestChoosePairing requires the strategy that makes pairs for facts.
func TestChoosePairing(t *testing.T) {
	chosen := map[choices.JoinStrategy]bool{}
	for _, test := range []struct {
		name string
		set  func(*pairFacts)
		want choices.JoinStrategy
	}{
		{"one match at most", func(*pairFacts) {}, choices.OnePass},
		{"one match at most, and other rows", func(f *pairFacts) { f.extra = true }, choices.OnePass},
		{"several matches", func(f *pairFacts) { f.single = false }, choices.Counted},
		{"no rows", func(f *pairFacts) { f.probe = 0 }, choices.Counted},
		{"all rows, one match at most", func(f *pairFacts) { f.form = everyMatchOrNone }, choices.EveryRow},
		{"all rows, several matches", func(f *pairFacts) { f.form, f.single = everyMatchOrNone, false }, choices.Counted},
		{"all rows of both sides", func(f *pairFacts) { f.form, f.extra = everyMatchOrNone, true }, choices.Counted},
		{"no rows of a left join", func(f *pairFacts) { f.form, f.probe = everyMatchOrNone, 0 }, choices.Counted},
		{"rows with a match", func(f *pairFacts) { f.form, f.filters = anyMatch, true }, choices.FilteredRows},
		{"rows without a match", func(f *pairFacts) { f.form, f.filters = noMatch, true }, choices.FilteredRows},
		{"rows with a match by number", func(f *pairFacts) { f.form = anyMatch }, choices.Counted},
		{"no rows with a match", func(f *pairFacts) { f.form, f.filters, f.probe = anyMatch, true, 0 }, choices.Counted},
		{"forced counting", func(f *pairFacts) { f.Pair = choices.Counted }, choices.Counted},
		{"one pass for several matches", func(f *pairFacts) { f.single, f.Pair = false, choices.OnePass }, choices.Counted},
	} {
		f := pairFacts{form: everyMatch, probe: 100, single: true}
		test.set(&f)
		name := choosePairing(&f).name
		require.Equal(t, test.want, name, test.name)
		chosen[name] = true
	}
	require.Len(t, chosen, len(pairings))
}

// TestChooseNearest requires the strategy that finds the nearest rows for facts.
func TestChooseNearest(t *testing.T) {
	chosen := map[choices.JoinStrategy]bool{}
	for _, test := range []struct {
		name string
		set  func(*asOfFacts)
		want choices.JoinStrategy
	}{
		{"many right rows", func(*asOfFacts) {}, choices.SortedMerge},
		{"right rows that fit a block", func(f *asOfFacts) { f.right = mergeCached }, choices.Merge},
		{"one more", func(f *asOfFacts) { f.right = mergeCached + 1 }, choices.SortedMerge},
		{"keys without words", func(f *asOfFacts) { f.words = false }, choices.Searched},
		{"forced order of few right rows", func(f *asOfFacts) { f.right, f.Find = 10, choices.SortedMerge }, choices.SortedMerge},
		{"no order of many right rows", func(f *asOfFacts) { f.Find = choices.Merge }, choices.Merge},
		{"a forced merge of keys without words", func(f *asOfFacts) { f.words, f.Find = false, choices.Merge }, choices.Searched},
	} {
		f := asOfFacts{left: 1 << 20, right: 1 << 20, words: true}
		test.set(&f)
		name := chooseNearest(&f).name
		require.Equal(t, test.want, name, test.name)
		chosen[name] = true
	}
	require.Len(t, chosen, len(nearestFinders))
	for _, f := range []asOfFacts{{onHost: true, left: 1, right: 1}, {left: 1}, {right: 1}, {left: 1, right: 1, tuning: tuning{choices.Join{Find: choices.Searched}}}} {
		require.False(t, f.mayHaveWords(), "%+v", f)
	}
	require.True(t, (&asOfFacts{left: 1, right: 1}).mayHaveWords())
}

// TestDocumentedStrategies requires that the package documentation names the strategies in their order.
func TestDocumentedStrategies(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	documented := func(title string) (names []string) {
		_, section, _ := strings.Cut(string(text), "\n// # "+title+"\n")
		section, _, _ = strings.Cut(section, "\n// # ")
		for _, line := range strings.Split(section, "\n") {
			row, table := strings.CutPrefix(line, "//\t")
			if name, _, _ := strings.Cut(row, "  "); table && name != "" && name != "strategy" {
				names = append(names, name)
			}
		}
		return names
	}
	require.Equal(t, names(finders), documented("How matches are found"))
	require.Equal(t, names(pairings), documented("How pairs are made"))
	require.Equal(t, names(nearestFinders), documented("How the nearest rows are found"))
}

func names[F, R any](table []strategy[F, R]) (names []string) {
	for _, s := range table {
		names = append(names, string(s.name))
	}
	return names
}
