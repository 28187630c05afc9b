package group

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/memory"
)

// The few largest or smallest numbers of each group are found in one pass over the rows, without a sort
// (tops.cu). A group has a slot for each of its values. Values that are equal but have different
// bits (NaN, −0 and 0) have to be in the order of their rows: if a value is NaN or −0, the rows are
// sorted. The host waits for that answer before it waits for the number of values.

// tops finds the values of one aggregate.
type tops struct {
	members *members
	source  source
	limit   int
	groups  int
	slots   memory.Slice[uint8]
	refused memory.Slice[uint8]
}

// findTops returns lists of the largest or smallest values of each group.
func (m *members) findTops() (*column.Column, error) {
	r, limit, groups := m.aggregation, m.o.aggregate.limit, m.aggregation.groups.capacity()
	s, err := sourceOf(&r.call, m.rows.Column(1))
	if err != nil {
		return nil, err
	}
	t := &tops{members: m, source: s, limit: limit, groups: groups}
	block, slices, err := r.call.Scratch(8*uint64(groups)*uint64(limit), 4)
	if err != nil {
		return nil, err
	}
	m.owned.Add(block)
	t.slots, t.refused = slices[0], slices[1]
	if err := errors.Join(t.slots.Fill(r.call.Stream, 0), t.refused.Fill(r.call.Stream, 0)); err != nil {
		return nil, err
	}
	if err := t.push(); err != nil {
		return nil, err
	}
	return t.lists()
}

// push pushes the values of all rows into the slots.
func (t *tops) push() error {
	m, call := t.members, &t.members.aggregation.call
	g, err := m.grouping(m.rows)
	if err != nil {
		return err
	}
	shared, err := sharedBytes(call)
	if err != nil {
		return err
	}
	entry, bytes, perMultiprocessor := "push_few_tops", 8*t.groups*t.limit, 1
	switch {
	case bytes > shared-topReserve:
		entry, bytes, perMultiprocessor = "push_tops", 0, 2
	case 2*(bytes+topReserve) <= shared:
		perMultiprocessor = 2
	}
	kernel, err := call.Kernel(&aggregateSet, "tops", entry)
	if err != nil {
		return err
	}
	tiles := max(g.rows-1, 0)/topRows + 1
	blocks := min(tiles, perMultiprocessor*max(call.Stream.Device().Info().Multiprocessors, 1))
	l := topsLayout{
		numbers: g.numbers.AsBytes(), values: t.source.layout(), slots: t.slots, refused: t.refused,
		groups: uint64(t.groups), tiles: uint64(tiles), factor: scatteredBy(uint64(tiles)), limit: uint32(t.limit), least: t.least(),
	}
	return kernel.Launch(call.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: topThreads}, uint32(bytes),
		l.asArgument(), g.counted, int64(g.rows))
}

func (t *tops) least() uint32 { return kernelset.Flag(t.members.o.aggregate.function == smallest) }

// scatteredBy returns a factor by which multiples of it, modulo n, are all numbers below n in a scattered
// order: it has no common divisor with n, and is near the golden section of n.
func scatteredBy(n uint64) uint64 {
	for factor := n*5/8 + 1; ; factor++ {
		a, b := factor, n
		for b != 0 {
			a, b = b, a%b
		}
		if a == 1 {
			return factor
		}
	}
}

// lists returns the values in the slots as lists.
func (t *tops) lists() (*column.Column, error) {
	m, r := t.members, t.members.aggregation
	counts, err := r.newScratch(op.Result{Type: arrow.PrimitiveTypes.Int64, Length: t.groups}, func(out op.Buffers) error {
		return launchRows(&r.call, "tops", "count_tops", t.groups, out.Values, t.slots, uint32(t.limit), uint64(t.groups))
	})
	if err != nil {
		return nil, err
	}
	m.owned.Add(counts)
	ends, err := m.ends(counts)
	if err != nil {
		return nil, err
	}
	words, count, err := m.lastEnd(ends)
	if err != nil {
		return nil, err
	}
	result := op.Result{Type: m.rows.Column(1).Type(), Length: m.keptRows(t.groups), RowCount: count}
	values, err := r.newScratch(result, func(out op.Buffers) error {
		return launchRows(&r.call, "tops", "list_tops", t.groups, out.Values, t.slots, words, uint32(t.limit), uint64(t.groups), uint32(t.source.width),
			uint32(t.source.form), kernelset.Flag(t.source.form.isSigned()), t.least())
	})
	if err != nil {
		return nil, err
	}
	m.owned.Add(values)
	if err := t.checkRefused(); err != nil {
		return nil, err
	}
	return m.listOf(values, ends)
}

// checkRefused returns errUnselected if a value has no key. It waits.
func (t *tops) checkRefused() error {
	words, err := memory.Reinterpret[uint32](t.refused)
	if err != nil {
		return err
	}
	call := &t.members.aggregation.call
	var flag [1]uint32
	if err := words.Download(call.Context(), call.Stream, flag[:]); err != nil || flag[0] == 0 {
		return err
	}
	return errUnselected
}
