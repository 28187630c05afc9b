package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// matches has the rows of one table, the build side, that match each row of the other
// one, the probe side. Every kind of join, as-of joins and joins by ranges find matches
// first, and make pairs of them.
type matches struct {
	probe, build int
	// first is the place in list of the first row that matches each row of the probe
	// side, count the number of rows that do. Both have probe elements. If single is set
	// count may be empty.
	first, count memory.Slice[uint32]
	// list has rows of the build side, in ascending order for each row of the probe side.
	// If it is empty, the row at each place is the place.
	list memory.Slice[uint32]
	// single is set if no row has two matches and list is empty: first is then the match of
	// each row, or noRow. block is the memory of first.
	single bool
	block  *memory.Block
	// pending is set if the matches are not found yet: see [run.lookUp].
	pending *lookup

	held release.Stack
}

// Release releases what the matches hold.
func (m *matches) Release() error {
	if m == nil {
		return nil
	}
	return m.held.Release()
}

// uint32s allocates scratch memory of several lengths. The caller releases the block.
func (r *run) uint32s(lengths ...int) (*memory.Block, []memory.Slice[uint32], error) {
	sizes := make([]uint64, len(lengths))
	for i, n := range lengths {
		sizes[i] = 4 * uint64(n)
	}
	block, slices, err := r.call.Scratch(sizes...)
	if err != nil {
		return nil, nil, err
	}
	words := make([]memory.Slice[uint32], len(slices))
	for i, s := range slices {
		if words[i], err = memory.Reinterpret[uint32](s); err != nil {
			return nil, nil, errors.Join(err, block.Release())
		}
	}
	return block, words, nil
}

// newMatches allocates first and count. The caller releases the matches.
func (r *run) newMatches(probe, build int) (*matches, error) {
	block, slices, err := r.uint32s(probe, probe)
	if err != nil {
		return nil, err
	}
	m := &matches{probe: probe, build: build, first: slices[0], count: slices[1], block: block}
	m.held.Add(block)
	return m, nil
}

// everything matches all rows of the build side with each row of the probe side.
func (r *run) everything(probe, build int) (*matches, error) {
	m, err := r.newMatches(probe, build)
	if err != nil || probe == 0 {
		return m, err
	}
	if err := errors.Join(m.first.Fill(r.call.Stream, 0), m.count.Fill(r.call.Stream, uint32(build)), r.waitIdle()); err != nil {
		return nil, errors.Join(err, m.Release())
	}
	return m, nil
}
