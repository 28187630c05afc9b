package group

import (
	"github.com/gpuframe/gpuframe/internal/op"
)

// Sums of products of floats of few groups are added by tiles in two launches (tile_powers.cu). The
// first one finds the top of each group, the second one adds the bits that the state keeps.

// powerLaunches divides some of the accumulators into launches for a number of slots, as tileLaunches
// does.
func powerLaunches(list []accumulator, numbers []int, kept bool, slots, limit int) (launches []tileLaunch, rest []int) {
	slices := slicesOf(slots, powerBytes, limit)
	for _, i := range numbers {
		if a := list[i]; kept || a.merges || a.kind != sumFloats || a.term == linear || slices > mostSlices {
			rest = append(rest, i)
			continue
		}
		if n := len(launches); slices == 1 && n > 0 {
			l := &launches[n-1]
			if count := len(l.accumulators) + 1; count <= mostReaders && slicesOf(slots, count*powerBytes, limit) == 1 {
				l.accumulators = append(l.accumulators, i)
				continue
			}
		}
		launches = append(launches, tileLaunch{accumulators: []int{i}, slices: slices})
	}
	return launches, rest
}

// addPowers adds all rows to the readers of a launch, or returns false if a block has too many rows.
func (g *grouping) addPowers(call *op.Call, readers []reader, l tileLaunch, limit int) (bool, error) {
	count := len(l.accumulators)
	tops := tiling{slots: g.capacity(), slices: slicesOf(g.capacity(), 4*count, limit), words: count}
	sums := tiling{slots: g.capacity(), slices: l.slices, words: powerWords * count, tops: count}
	for i, number := range l.accumulators {
		tops.readers = append(tops.readers, tileReader{reader: &readers[number], words: 1, word: i})
		sums.readers = append(sums.readers, tileReader{reader: &readers[number], words: powerWords, word: powerWords * i})
	}
	multiprocessors := call.Stream.Device().Info().Multiprocessors
	if rowsOfBlock(multiprocessors, l.slices, g.rows) > mostPowerRows {
		return false, nil
	}
	tops.shape(multiprocessors, g.rows, limit)
	sums.shape(multiprocessors, g.rows, limit)
	if err := tops.launchRows(call, g, "tile_powers", "find_tops"); err != nil {
		return false, err
	}
	return true, sums.launchRows(call, g, "tile_powers", "add_powers")
}
