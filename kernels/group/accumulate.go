package group

import (
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/release"
	"github.com/gpuframe/gpuframe/memory"
)

// states are the states of accumulators: for each a list of the groups' states.
type states struct {
	block *memory.Block
	// of has the states of each accumulator, those of group 0 first.
	of       []memory.Slice[uint8]
	capacity int
}

// Release releases the memory.
func (s *states) Release() error {
	if s == nil {
		return nil
	}
	return s.block.Release()
}

// reader is an accumulator and the columns that it reads.
type reader struct {
	accumulator
	in, other, condition source
	states               memory.Slice[uint8]
}

// accumulate adds all rows to the states of the plan's accumulators.
func (r *run) accumulate() (*states, error) {
	return accumulateAll(&r.call, r.groups, r.plan.accumulators, r.input, r.call.Scratch)
}

// accumulateAll adds the rows of groups to the states of accumulators, in memory of
// allocate. The caller releases the states.
func accumulateAll(call *op.Call, g *grouping, list []accumulator, input func(int) (*column.Column, error),
	allocate func(...uint64) (*memory.Block, []memory.Slice[uint8], error),
) (*states, error) {
	readers := make([]reader, len(list))
	for i, a := range list {
		var err error
		if readers[i], err = readerOf(call, a, input); err != nil {
			return nil, err
		}
	}
	s := &states{capacity: g.capacity()}
	sizes := make([]uint64, len(list))
	for i, a := range list {
		sizes[i] = 8 * uint64(a.words()) * uint64(s.capacity)
	}
	var err error
	if s.block, s.of, err = allocate(sizes...); err != nil {
		return nil, err
	}
	for i := range readers {
		readers[i].states = s.of[i]
	}
	if call.OnHost() {
		err = g.accumulateOnHost(call.Context(), readers)
	} else {
		err = g.accumulateOnDevice(call, readers)
	}
	return release.OnError(s, err)
}

// readerOf finds the columns of an accumulator.
func readerOf(call *op.Call, a accumulator, input func(int) (*column.Column, error)) (made reader, err error) {
	made.accumulator = a
	for _, column := range []struct {
		number int
		to     *source
		read   func(*op.Call, *column.Column) (source, error)
	}{{a.value, &made.in, a.source}, {a.other, &made.other, a.source}, {a.where, &made.condition, sourceOf}} {
		if column.number < 0 {
			continue
		}
		c, err := input(column.number)
		if err != nil {
			return made, err
		}
		if *column.to, err = column.read(call, c); err != nil {
			return made, err
		}
	}
	return made, nil
}

// source returns a column as an accumulator reads it.
func (a accumulator) source(call *op.Call, c *column.Column) (source, error) {
	if a.kind == countRows && !a.merges {
		return validityOf(c)
	}
	s, err := sourceOf(call, c)
	if err != nil || !a.merges {
		return s, err
	}
	region, err := c.ValuesRegion()
	return source{values: region, is: fromStates, width: 8 * a.words()}, err
}
