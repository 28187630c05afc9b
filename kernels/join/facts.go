package join

import (
	"math"
	"math/bits"

	choices "github.com/gpuframe/gpuframe/internal/op/strategy"
)

// facts are the input of the choice of how matches are found. Those that take a pass over the rows, and a wait, are
// measured only if the choice depends on them (matcher.measure).
type facts struct {
	tuning
	onHost bool
	// cross is set if all pairs of rows match.
	cross bool
	// probe and build are the rows of both sides. Of a build side that is kept, probe is the most rows of a table.
	probe, build int
	// distinct is set if no key of the build side occurs twice, or it does not matter.
	distinct bool
	// words is set if the keys have words of at most 64 bits.
	words bool
	// masked is set if rows of the build side may have a key that matches nothing.
	masked bool
	// places is the length of the range of the words of the build side, or 0 if it is not known.
	places uint64
}

// mayHaveWords reports whether words are of use.
func (f *facts) mayHaveWords() bool {
	return !f.cross && f.probe > 0 && f.build > 0 && f.Find != choices.SortedKeys
}

// room returns the most places of a table.
func (f *facts) room() uint64 {
	perRow, cached := uint64(placesPerRow), uint64(0)
	switch {
	case f.onHost:
		perRow = hostPlacesPerRow
	case f.probe < math.MaxInt: // the build side is not kept
		cached = min(uint64(f.probe)/probesPerPlace, cachedPlaces)
	}
	return min(max(perRow*uint64(f.build), cached), math.MaxUint32-1)
}

// filterBits returns the logarithm of the bits of the table's filter, or 0 without one: rows of the probe side that are few, or
// about as many as those of the build side, are looked up without a filter.
func (f *facts) filterBits() int {
	pays := f.probe >= fewestFiltered && f.probe/probesPerFiltered >= f.build
	if f.onHost || f.build == 0 || f.build > mostFilteredBuild || f.Filter == choices.Unfiltered || !pays && f.Filter != choices.Filtered {
		return 0
	}
	return max(bits.Len(uint(filterBitsPerRow*f.build-1)), fewestFilterBits)
}

// pairFacts are the input of the choice of how pairs are made of matches.
type pairFacts struct {
	tuning
	form form
	// probe is the rows of the probe side.
	probe int
	// single is set if no row has two matches, as far as it is known.
	single bool
	// extra is set if rows of the build side without a match follow the pairs.
	extra bool
	// filters is set if the result is rows of the left table alone, of any number.
	filters bool
}

// asOfFacts are the input of the choice of how the nearest rows are found.
type asOfFacts struct {
	tuning
	onHost bool
	// left and right are the rows of both sides.
	left, right int
	// words is set if the keys have words of at most 64 bits, which have the order of the keys.
	words bool
}

// mayHaveWords reports whether words are of use.
func (f *asOfFacts) mayHaveWords() bool {
	return !f.onHost && f.left > 0 && f.right > 0 && f.Find != choices.Searched
}
