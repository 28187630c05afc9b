package group

import (
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	choices "github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/memory"
)

// A strategy is a way to find the groups of a query. It applies if it is possible for the facts and pays.
type strategy struct {
	name choices.GroupStrategy
	// possible reports whether the strategy gives the right result within the limits of the device.
	possible func(*facts) bool
	// pays reports whether it is faster than those that follow. It is called if the strategy is possible.
	pays func(*facts) bool
	// find finds the groups, or the partitions that find them later.
	find func(*groupFinder) error
	// fallback is the strategy that follows if only the rows show that this one fails: a table of keys overflows, or the
	// memory does not fit the budget. Without it the error is that of the query.
	fallback choices.GroupStrategy
}

// The names of strategies, as in the table of the package documentation.
const (
	oneLaunchName  = choices.OneLaunch
	denseName      = choices.DenseKeys
	partitionsName = choices.Partitions
	hashesName     = choices.Hashes
	oneGroupName   = choices.OneGroup
	numbersName    = choices.Numbers
)

// strategies are tried in this order: the first one that applies finds the groups. The last one always does.
var strategies = []strategy{
	{name: oneLaunchName, possible: (*facts).mayBeOneLaunch, pays: (*facts).isSmall}, // aggregateFew runs it, before keys have columns
	{name: denseName, possible: (*facts).hasPlaces, pays: (*facts).densePays, find: (*groupFinder).findDense},
	{name: partitionsName, possible: (*facts).hasPartitions, pays: (*facts).partitionsPay, find: (*groupFinder).findPartitions, fallback: numbersName},
	{name: hashesName, possible: (*facts).hasHashes, pays: (*facts).hashesPay, find: (*groupFinder).findHashes, fallback: numbersName},
	{name: oneGroupName, possible: (*facts).isOneGroup, pays: always, find: (*groupFinder).findOneGroup},
	{name: numbersName, possible: (*facts).hasKeyColumns, pays: always, find: (*groupFinder).findNumbers},
}

func always(*facts) bool { return true }

// strategyOf returns the strategy of a name.
func strategyOf(name choices.GroupStrategy) *strategy {
	return &strategies[slices.IndexFunc(strategies, func(s strategy) bool { return s.name == name })]
}

// choose returns the strategy that finds the groups of a query with some facts. Find names one that is taken if it is
// possible, whether it pays or not.
func choose(f *facts) *strategy {
	for i := range strategies {
		if s := &strategies[i]; s.name == f.Find && s.possible(f) {
			return s
		}
	}
	for i := range strategies {
		if s := &strategies[i]; s.possible(f) && s.pays(f) {
			return s
		}
	}
	return strategyOf(numbersName)
}

// mayBeOneLaunch reports whether the kernel of few rows supports the query.
func (f *facts) mayBeOneLaunch() bool {
	return f.oneLaunch && f.rows > 0 && f.rows <= mostAggregatedRows
}

// isSmall reports whether the time of a query is that of its launches.
func (f *facts) isSmall() bool { return f.rows < int64(f.MeasuredRows) && f.Find == "" && f.Add == "" }

// hasPlaces reports whether the combination of the keys of a row is its place, and there can be a state for each place.
// Partial results have states in memory for a single place only: no other way is as fast as numbers.
func (f *facts) hasPlaces() bool {
	if !f.mayHavePlaces() || f.places == 0 {
		return false
	}
	if f.asStates && f.hasVariableKeys() {
		return f.addsInPlace()
	}
	return f.places <= mostDensePlaces || f.addsInPlace() || f.recorded(f.places)
}

// densePays reports whether places are added to where the rows are, or rows cannot move to partitions.
func (f *facts) densePays() bool {
	return f.addsInPlace() || !f.hasPartitions() || !f.partitionsPay()
}

func (f *facts) hasPartitions() bool { return f.partitions != nil }

// partitionsPay reports whether places are many, but not many more than rows.
func (f *facts) partitionsPay() bool {
	return f.places >= fewestPartitioned && f.places <= partitionedPerRow*uint64(f.rows)
}

func (f *facts) hasHashes() bool { return f.hashes != nil }

// hashesPay reports whether there are more groups than tiles add up, so that numbers of groups would be followed by
// partitions or records, and no table of places makes the numbers in little time.
func (f *facts) hashesPay() bool {
	return !f.keys[0].span.short() && f.groups >= fewestPartitioned && !f.tiled(f.groups, true) &&
		f.hashes.places <= partitionedPerRow*uint64(f.rows)
}

// isOneGroup reports whether all rows are one group, on the host: on a GPU constants are dense keys.
func (f *facts) isOneGroup() bool { return f.onHost && f.constants }

// hasKeyColumns reports whether rows have columns of keys: constants have none.
func (f *facts) hasKeyColumns() bool { return !f.constants }

// hasVariableKeys reports whether a key is no constant.
func (f *facts) hasVariableKeys() bool {
	return slices.ContainsFunc(f.keys, func(k keyFacts) bool { return !k.constant })
}

// hasPlainKey reports whether the place of a row is computed of one column of 32 bits without nulls.
func (f *facts) hasPlainKey() bool {
	count, plain := 0, false
	for _, k := range f.keys {
		if !k.constant {
			count++
			plain = k.width == 4 && !k.nullable
		}
	}
	return count == 1 && plain
}

// An adder is a strategy that adds rows to the states of groups.
type adder struct {
	name choices.GroupStrategy
	// pays reports whether it is the fastest one for a number of places, or of groups with numbers. plainKey is set if the
	// group of a row is computed of one column of 32 bits.
	pays func(f *facts, places uint64, plainKey bool) bool
	// add adds the rows to the states of the readers that it supports, and returns the others. Partitions have no states in
	// memory, and find the groups again.
	add func(*grouping, *op.Call, []reader) ([]reader, error)
}

const (
	tilesName   = choices.Tiles
	recordsName = choices.Records
	slotsName   = choices.Slots
)

// adders are tried in this order. The first one that pays decides whether rows move to partitions. If they do not, each
// adds to the states of the accumulators that it supports, and leaves the others to the next one.
var adders = []adder{
	{name: tilesName, pays: (*facts).tiled, add: (*grouping).addTiles},
	{name: recordsName, pays: (*facts).recordsPay, add: (*grouping).addRecords},
	{name: partitionsName, pays: (*facts).movesPay},
	{name: slotsName, pays: func(*facts, uint64, bool) bool { return true }, add: (*grouping).addSlots},
}

// chooseAdder returns the name of the strategy that adds rows to a number of places. Add names one that pays also for few
// rows, in place of the others.
func chooseAdder(f *facts, places uint64, plainKey bool) choices.GroupStrategy {
	return adders[slices.IndexFunc(adders, func(a adder) bool { return a.pays(f, places, plainKey) })].name
}

// addsBy reports whether tiles, or records, are worth their launches for a number of rows.
func (t *tuning) addsBy(name choices.GroupStrategy, rows int64) bool {
	return t.Add == name || t.Add == "" && rows >= fewestTiledRows
}

// addsInPlace reports whether rows are added to the states of places by tiles or records, and so do not move.
func (f *facts) addsInPlace() bool {
	name := chooseAdder(f, f.places, f.hasPlainKey())
	return name == tilesName || name == recordsName
}

// recordsPay reports whether records are faster than partitions.
func (f *facts) recordsPay(places uint64, _ bool) bool {
	if places < fewestRecorded && f.rows >= fewestUnrecordedRows && f.Add != recordsName {
		return false
	}
	return f.recorded(places)
}

// movesPay reports whether rows with numbers move to partitions of these.
func (f *facts) movesPay(places uint64, _ bool) bool {
	many := places >= fewestPartitioned && places <= partitionedPerRow*uint64(f.rows)
	return (f.Add == partitionsName || f.Add == "" && many) && f.planPartitionsOf(places) != nil
}

// tiled reports whether tiles are the way to add up a number of places, with an accumulator that counts the rows of each.
func (f *facts) tiled(places uint64, plainKey bool) bool {
	if !f.addsBy(tilesName, f.rows) || places == 0 || places > mostTiledPlaces {
		return false
	}
	list, bins := f.plan.counted(), f.asStates && !f.fixedPointSums
	if !f.asStates {
		list = f.plan.marked(list)
	}
	l := newTileLayout(&f.tuning, f.limits, int(f.rows), int(places), 0, bins)
	for _, a := range list {
		if _, _, ok := a.tileWords(bins, 1); !ok {
			return false
		}
		var terms extent
		if a.kind == sumIntegers {
			terms, _, _ = a.extent(f.extentOf)
		}
		l.add(a, terms, plainKey && f.isPlain(a))
	}
	launches, rest := l.launches()
	passes := 0
	for _, launch := range launches {
		if places > mostDensePlaces && launch.slices > 1 && !launch.queues {
			return false
		}
		passes += launch.passes()
	}
	return len(rest) == 0 && passes <= mostTilePasses
}

// extentOf returns the range of the integers of an input.
func (f *facts) extentOf(number int) (extent, bool) {
	return f.inputs[number].extent, f.inputs[number].integer
}

// isPlain reports whether an accumulator counts all rows, or reads a column of float64 without nulls and conditions.
func (f *facts) isPlain(a accumulator) bool {
	for _, number := range []int{a.value, a.other} {
		if number >= 0 && (f.inputs[number].nullable || f.inputs[number].deferred) {
			return false
		}
	}
	if a.where >= 0 || a.kind == countRows {
		return a.where < 0
	}
	if a.kind != sumFloats && a.kind != greatest || a.value < 0 {
		return false
	}
	stored, err := formOfType(f.inputs[a.value].dataType)
	return err == nil && stored == fromF64
}

// recorded reports whether records are the way to add up a number of places, with an accumulator that counts the rows of
// each.
func (f *facts) recorded(places uint64) bool {
	if !f.addsBy(recordsName, f.rows) || places > uint64(f.rows) {
		return false
	}
	launches, rest := recordLaunches(f.plan.counted(), false, places)
	return len(rest) == 0 && len(launches) <= mostRecordLaunches &&
		!slices.ContainsFunc(launches, func(l recordLaunch) bool { return recordBytes(l.words) > f.shared-tileReserve })
}

// fallsBack reports whether another strategy follows after an error of this one. Partitions of a whole aggregation have
// no other: if their memory does not fit the budget, the aggregation is divided (divide.go).
func (s *strategy) fallsBack(f *facts, err error) bool {
	if s.fallback == "" || !errors.Is(err, errCrowded) && !errors.Is(err, memory.ErrBudget) {
		return false
	}
	return s.name != partitionsName || f.asStates
}

// A valueFinder is a strategy that finds values of each group. If only the rows show that it fails, the error is
// errUnselected, and the last strategy of the table follows.
type valueFinder struct {
	name choices.GroupStrategy
	// possible and pays are those of a strategy. Nil is always.
	possible, pays func(*valueFacts) bool
	find           func(*members) (*column.Column, error)
}

const (
	topsName         = choices.Tops
	selectionName    = choices.Selection
	sortedValuesName = choices.SortedValues
)

// extremeFinders find the largest and smallest values, quantileFinders quantiles.
var (
	extremeFinders = []valueFinder{
		{topsName, (*valueFacts).mayHaveTops, (*valueFacts).topsPay, (*members).findTops},
		{sortedValuesName, nil, nil, (*members).sortExtremes},
	}
	quantileFinders = []valueFinder{
		{selectionName, (*valueFacts).maySelect, (*valueFacts).selectionPays, (*members).selectQuantile},
		{sortedValuesName, nil, nil, (*members).sortQuantile},
	}
)

// chooseValues returns the strategy of a table that finds values. Values names one that is taken if it is possible.
func chooseValues(table []valueFinder, f *valueFacts) *valueFinder {
	for _, forced := range []bool{true, false} {
		for i := range table {
			v := &table[i]
			if (v.possible == nil || v.possible(f)) && (forced && v.name == f.Values || !forced && (v.pays == nil || v.pays(f))) {
				return v
			}
		}
	}
	return &table[len(table)-1]
}

// hasNumbers reports whether a GPU has rows with numbers.
func (f *valueFacts) hasNumbers() bool { return !f.onHost && f.groups > 0 && f.rows > 0 && f.plain }

func (f *valueFacts) mayHaveTops() bool { return f.hasNumbers() && f.limit >= 1 && f.limit <= mostTops }

// topsPay reports whether there are many rows, and not many more slots than rows.
func (f *valueFacts) topsPay() bool { return f.rows > fewestTopped && f.groups <= 2*f.rows/f.limit }

func (f *valueFacts) maySelect() bool { return f.hasNumbers() && !f.bounded }

// selectionPays reports whether there are many rows of each group.
func (f *valueFacts) selectionPays() bool {
	return f.rows >= fewestSelected && f.groups <= f.rows/fewestSelectedOfGroup
}

// numbersPay reports whether the bounds of strings are worth a wait, to replace short ones by numbers.
func (f *textFacts) numbersPay() bool {
	return !f.onHost && f.rows > 0 && f.rows >= int64(f.TextRows) && !f.numbered && !f.bounded && !f.estimated
}
