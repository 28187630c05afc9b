package join

import (
	"github.com/gpuframe/gpuframe/column"
	choices "github.com/gpuframe/gpuframe/internal/op/strategy"
)

// A strategy is a way to do a step of a join. It applies if it is possible for the facts and pays.
type strategy[F, R any] struct {
	name choices.JoinStrategy
	// possible reports whether the strategy gives the right result, pays whether it is faster than those that follow. It is
	// called if the strategy is possible. Nil is always.
	possible, pays func(*F) bool
	run            R
}

func (s *strategy[F, R]) isPossible(f *F) bool { return s.possible == nil || s.possible(f) }

func (s *strategy[F, R]) applies(f *F) bool { return s.isPossible(f) && (s.pays == nil || s.pays(f)) }

// choose returns the first strategy of a table that applies. The last one always does. A forced one is taken if it is
// possible, whether it pays or not.
func choose[F, R any](table []strategy[F, R], f *F, forced choices.JoinStrategy) *strategy[F, R] {
	for i := range table {
		if s := &table[i]; s.name == forced && s.isPossible(f) {
			return s
		}
	}
	for i := range table {
		if s := &table[i]; s.applies(f) {
			return s
		}
	}
	return &table[len(table)-1]
}

// A finder finds matches.
type finder struct {
	// build prepares the build side, or is nil.
	build func(*matcher) (*built, error)
	// match finds the rows of the probe side in it.
	match func(*matcher, *built) (*matches, error)
}

// finders find matches by keys.
var finders = []strategy[facts, finder]{
	{choices.AllPairs, (*facts).isCross, nil, finder{nil, (*matcher).matchAll}},
	{choices.NoPairs, (*facts).isEmpty, nil, finder{nil, (*matcher).matchNone}},
	{choices.ListedPlaces, (*facts).mayListPlaces, (*facts).placesRepeat, finder{(*matcher).listPlaces, (*matcher).lookUp}},
	{choices.KnownPlaces, (*facts).hasPlaces, nil, finder{(*matcher).fillPlaces, (*matcher).lookUp}},
	{choices.MeasuredPlaces, (*facts).mayMeasurePlaces, (*facts).measuringPays, finder{(*matcher).measurePlaces, (*matcher).lookUp}},
	{choices.HashTable, (*facts).hasWords, nil, finder{(*matcher).fillHashTable, (*matcher).lookUp}},
	{choices.SortedKeys, (*facts).hasRows, nil, finder{(*matcher).sortKeys, (*matcher).search}},
}

// chooseFinder returns the strategy that finds the matches.
func chooseFinder(f *facts) *strategy[facts, finder] { return choose(finders, f, f.Find) }

// A pairing makes pairs of matches. If these show that a row has several matches after all, the error is errRepeated, and
// the last strategy follows.
type pairing struct {
	// pair makes pairs with room for extra ones behind them, number columns of the numbers of the rows.
	pair   func(m *matches, c *call, f form, extra int) (*pairs, error)
	number func(m *matches, c *call) (probe, build *column.Column, err error)
}

// pairings make pairs of matches.
var pairings = []strategy[pairFacts, pairing]{
	{choices.FilteredRows, (*pairFacts).mayFilter, nil, pairing{}}, // output.filterLeft runs it
	{choices.OnePass, (*pairFacts).mayPairSingle, nil, pairing{(*matches).pairSingle, (*matches).numberSingle}},
	{choices.EveryRow, (*pairFacts).mayPairEveryRow, nil, pairing{pair: (*matches).pairEveryRow}},
	{choices.Counted, nil, nil, pairing{(*matches).pairCounted, (*matches).numberCounted}},
}

// choosePairing returns the strategy that makes the pairs.
func choosePairing(f *pairFacts) *strategy[pairFacts, pairing] { return choose(pairings, f, f.Pair) }

// A nearestFinder finds the nearest rows of as-of joins.
type nearestFinder func(*asOfMatcher) (*matches, error)

// nearestFinders find the nearest rows of as-of joins.
var nearestFinders = []strategy[asOfFacts, nearestFinder]{
	{choices.Merge, (*asOfFacts).hasWords, (*asOfFacts).isCached, (*asOfMatcher).merge},
	{choices.SortedMerge, (*asOfFacts).hasWords, nil, (*asOfMatcher).mergeSorted},
	{choices.Searched, nil, nil, (*asOfMatcher).search},
}

// chooseNearest returns the strategy that finds the nearest rows.
func chooseNearest(f *asOfFacts) *strategy[asOfFacts, nearestFinder] {
	return choose(nearestFinders, f, f.Find)
}
