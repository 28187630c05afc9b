package group

import (
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// states are the states of accumulators: for each a list of the groups' states.
type states struct {
	block *memory.Block
	// lists has the states of each accumulator, those of group 0 first. They are stride words
	// apart if the states of a group lie together, and adjacent if stride is 0.
	lists    []memory.Slice[uint8]
	stride   int
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
	// stride is the number of words between the states of two groups.
	stride int
	// terms are those of a sum of integers.
	terms extent
	// needed is a flag in device memory: without it a kernel skips the reader. It may be empty.
	needed memory.Slice[uint8]
}

// accumulate adds all rows to the states of the plan's accumulators. On a GPU the states of a
// group lie together: if there are too many groups for the cache, a row then takes one
// access to memory and not one for each accumulator.
func (r *aggregation) accumulate() (*states, error) {
	allocate := statesApart(r.call.Scratch)
	if !r.call.OnHost() && r.groups.dense == nil {
		allocate = r.statesTogether
	}
	list := slices.Clone(r.plan.accumulators)
	if !r.groups.kept {
		list = r.plan.marked(list)
	}
	return r.accumulateList(list, allocate)
}

// accumulateList adds all rows to the states of some accumulators.
func (r *aggregation) accumulateList(list []accumulator, allocate allocator) (*states, error) {
	fused, err := r.fuse(list)
	if err != nil {
		return nil, err
	}
	sums, err := accumulateAll(&r.call, r.groups, list, r.input, fused, allocate)
	if fused != nil {
		r.present = fused.present
		sums, err = release.OnError(sums, err, fused.owned.Release())
	}
	return sums, err
}

// marked sets the marks of a list that begins with the plan's accumulators, and returns it.
func (p *plan) marked(list []accumulator) []accumulator {
	for i := range list {
		list[i].marks = list[i].kind == countRows && p.marks(i)
	}
	return list
}

// marks reports whether the results only depend on whether a count is zero.
func (p *plan) marks(number int) bool {
	for i := range p.outputs {
		o := &p.outputs[i]
		last := len(o.states) - 1
		for j, state := range o.states {
			if state != number {
				continue
			}
			switch o.finish {
			case finishInteger, finishDecimal, finishProduct, finishExtreme, finishFloat:
				if o.counted && j == last {
					continue
				}
			}
			return false
		}
	}
	return true
}

// rowCount counts the rows of each group.
var rowCount = accumulator{kind: countRows, value: -1, other: -1, where: -1}

// counted returns the plan's accumulators and one that counts the rows of each group.
func (p *plan) counted() []accumulator {
	list := slices.Clone(p.accumulators)
	if !slices.Contains(list, rowCount) {
		list = append(list, rowCount)
	}
	return list
}

// allocator allocates states.
type allocator func(list []accumulator, capacity int) (*states, error)

// statesApart allocates a list of states for each accumulator.
func statesApart(allocate func(...uint64) (*memory.Block, []memory.Slice[uint8], error)) allocator {
	return func(list []accumulator, capacity int) (*states, error) {
		s := &states{capacity: capacity}
		sizes := make([]uint64, len(list))
		for i, a := range list {
			sizes[i] = 8 * uint64(a.words()) * uint64(capacity)
		}
		var err error
		s.block, s.lists, err = allocate(sizes...)
		return s, err
	}
}

// statesTogether allocates one list of the states of all accumulators.
func (r *aggregation) statesTogether(list []accumulator, capacity int) (*states, error) {
	s := &states{capacity: capacity, lists: make([]memory.Slice[uint8], len(list))}
	for _, a := range list {
		s.stride += a.words()
	}
	var all []memory.Slice[uint8]
	var err error
	if s.block, all, err = r.call.Scratch(8 * uint64(s.stride) * uint64(capacity)); err != nil || capacity == 0 {
		return s, err
	}
	begin := 0
	for i, a := range list {
		if s.lists[i], err = all[0].Slice(begin, all[0].Len()); err != nil {
			return nil, errors.Join(err, s.block.Release())
		}
		begin += 8 * a.words()
	}
	return s, nil
}

// clear sets all states to zero. They have a block to themselves, which one call of the driver fills.
func (s *states) clear(stream *device.Stream) error {
	if s.block == nil {
		return nil
	}
	all, err := memory.SliceOf[uint8](s.block, int(s.block.Bytes()))
	if err != nil {
		return err
	}
	return all.Fill(stream, 0)
}

// accumulateAll adds the rows of groups to the states of accumulators. Those of fused read no columns;
// it may be nil. The caller releases the states.
func accumulateAll(call *op.Call, g *grouping, list []accumulator, input func(int) (*column.Column, error), fused *fusion, allocate allocator) (*states, error) {
	readers := make([]reader, len(list))
	for i, a := range list {
		if fused.has(i) {
			readers[i] = reader{accumulator: a, terms: fused.terms[i]}
			continue
		}
		var err error
		if readers[i], err = readerOf(call, a, input); err != nil {
			return nil, err
		}
	}
	s, err := allocate(list, g.capacity())
	if err != nil {
		return nil, err
	}
	for i := range readers {
		readers[i].states, readers[i].stride = s.lists[i], s.stride
		if s.stride == 0 {
			readers[i].stride = list[i].words()
		}
	}
	if call.OnHost() {
		err = g.accumulateOnHost(call.Context(), readers)
	} else {
		if err = s.clear(call.Stream); err == nil {
			readers, err = fused.add(call, g, readers)
		}
		if err == nil {
			err = g.accumulateOnDevice(call, readers)
		}
	}
	return release.OnError(s, err)
}

// readerOf finds the columns of an accumulator.
func readerOf(call *op.Call, a accumulator, input func(int) (*column.Column, error)) (r reader, err error) {
	r.accumulator = a
	if a.kind == sumIntegers && !a.merges {
		r.terms, _, _ = a.extent(func(number int) (extent, bool) {
			c, err := input(number)
			if err != nil {
				return wholeRange, false
			}
			return extentOf(call, c)
		})
	}
	for _, column := range []struct {
		number int
		to     *source
		read   func(*op.Call, *column.Column) (source, error)
	}{{a.value, &r.in, a.source}, {a.other, &r.other, a.source}, {a.where, &r.condition, sourceOf}} {
		if column.number < 0 {
			continue
		}
		c, err := input(column.number)
		if err != nil {
			return r, err
		}
		if *column.to, err = column.read(call, c); err != nil {
			return r, err
		}
	}
	return r, nil
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
	return source{values: region, form: fromStates, width: 8 * a.words()}, err
}
