package group

import (
	"context"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/parallel"
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

// part is a range of rows or of groups.
type part struct{ begin, end int }

// accumulateOnHost adds all rows to the states of readers.
func (g *grouping) accumulateOnHost(ctx context.Context, readers []reader) error {
	numbers, err := g.numbers.Host()
	if err != nil {
		return err
	}
	for i := range readers {
		h, err := readers[i].onHost()
		if err != nil {
			return err
		}
		clear(h.states)
		if err := h.accumulate(ctx, numbers[:g.rows], g.capacity()); err != nil {
			return err
		}
	}
	return nil
}

// hostReader is a reader in memory that the processor reads.
type hostReader struct {
	accumulator
	in, other, condition hostSource
	states               []uint64
}

func (r *reader) onHost() (*hostReader, error) {
	h := &hostReader{accumulator: r.accumulator}
	var err error
	if h.in, err = r.in.host(); err != nil {
		return nil, err
	}
	if h.other, err = r.other.host(); err != nil {
		return nil, err
	}
	if h.condition, err = r.condition.host(); err != nil {
		return nil, err
	}
	bytes, err := r.states.Host()
	h.states = op.Elements[uint64](bytes)
	return h, err
}

// accumulate adds rows to the states of groups. Each goroutine has part of the rows and
// its own states, or all rows and part of the groups if the states are large.
func (h *hostReader) accumulate(ctx context.Context, numbers []uint32, groups int) error {
	n, count := len(numbers), parallel.Parts(len(numbers))
	if count == 1 || len(h.states)*count > n {
		return parallel.Run(ctx, groups, count, func(_, begin, end int) {
			h.add(h.states, numbers, part{0, n}, part{begin, end})
		})
	}
	own := make([][]uint64, count)
	err := parallel.Run(ctx, n, count, func(i, begin, end int) {
		own[i] = h.states
		if i > 0 {
			own[i] = make([]uint64, len(h.states))
		}
		h.add(own[i], numbers, part{begin, end}, part{0, groups})
	})
	words := h.words()
	for _, states := range own[1:] {
		for at := 0; at < len(states); at += words {
			mergeStates(h.kind, h.states[at:at+words], states[at:at+words])
		}
	}
	return err
}

// add adds rows to the states of some groups.
func (h *hostReader) add(states []uint64, numbers []uint32, rows, groups part) {
	words := h.words()
	for row := rows.begin; row < rows.end; row++ {
		number := int(numbers[row])
		if number < groups.begin || number >= groups.end || !h.takes(row) {
			continue
		}
		h.addRow(states[number*words:(number+1)*words], row)
	}
}

// takes reports whether a row is not skipped.
func (h *hostReader) takes(row int) bool {
	if h.where >= 0 && !(h.condition.IsTrue(row) && h.condition.isValid(row)) {
		return false
	}
	return h.in.isValid(row) && h.other.isValid(row)
}

func (h *hostReader) addRow(state []uint64, row int) {
	if h.merges {
		mergeStates(h.kind, state, h.in.state(row))
		return
	}
	switch h.kind {
	case countRows:
		state[0]++
	case sumIntegers:
		addInteger(state, h.in.integer(row), h.in.is.isSigned())
	case sumDecimals:
		addWide(state, h.in.wide(row))
	case multiply:
		state[0] = (state[0]^1)*h.in.integer(row) ^ 1
	case greatest:
		state[0] = max(state[0], h.image(row, false))
	case firstGreatest:
		foundFirst(state, h.image(row, true), ^rowImage(uint64(row)))
	case sumFloats:
		y := 0.0
		if h.term == crossed {
			y = h.other.float(row)
		}
		addTerm(state, h.term, h.in.float(row), y)
	}
}

// image returns the image of a row's value, or of its number.
func (h *hostReader) image(row int, zeros bool) uint64 {
	if h.value >= 0 {
		return h.in.image(row, h.least, zeros)
	}
	image := rowImage(uint64(row))
	if h.least {
		return ^image
	}
	return image
}
