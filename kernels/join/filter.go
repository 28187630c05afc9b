package join

import (
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// mayFilter reports whether the result is a filter of the left table, which reads rows in order and needs no numbers of
// rows.
func (f *pairFacts) mayFilter() bool { return f.filters && f.probe > 0 }

// selectsLeft reports whether the result is columns of the left table alone. A limit of the rows needs their number.
func (o *output) selectsLeft() bool {
	return o.options.Kind.leftOnly() && o.options.MaxRows == 0 && slices.ContainsFunc(o.result.columns, func(c resultColumn) bool { return c.selected })
}

// filterLeft keeps the left rows with a match or, for Anti, those without. On a GPU the
// number of rows stays on the device.
func (o *output) filterLeft(m *matches) (*buffer.Buffer, error) {
	var held release.Stack
	kept, err := o.filterBy(&held, m)
	return release.OnError(kept, err, held.Release())
}

func (o *output) filterBy(held *release.Stack, m *matches) (*buffer.Buffer, error) {
	block, slices, err := o.Scratch(op.BitmapBytes(m.probe))
	if err != nil {
		return nil, err
	}
	held.Add(block)
	if err := m.matched(o.call, slices[0], o.options.Kind == Anti); err != nil {
		return nil, err
	}
	mask, err := column.New(column.Data{Type: arrow.FixedWidthTypes.Boolean, Length: m.probe, Buffers: []column.Bytes{{}, slices[0]}, Manager: o.Manager})
	if err != nil {
		return nil, err
	}
	held.Add(mask)
	var columns []*column.Column
	for _, c := range o.result.columns {
		if c.selected {
			columns = append(columns, o.left.Column(c.number))
		}
	}
	schema := o.result.schema(o.left.Schema(), o.right.Schema(), o.options.Kind)
	table, err := buffer.New(schema, columns, buffer.Rows{Count: int64(m.probe), Manager: o.Manager})
	if err != nil {
		return nil, err
	}
	held.Add(table)
	return selection.FilterMask(o.Context(), table, mask, o.resultOptions())
}

// matched writes a bit for each row with a match or without one. A GPU finds matches that are pending by the same kernel.
func (m *matches) matched(c *call, mask memory.Slice[uint8], without bool) error {
	if l := m.pending; l != nil && !c.OnHost() && l.table.decided && l.table.distinct {
		t, err := l.table.argument()
		if err != nil {
			return err
		}
		return c.launchTiles("filtered", "probe_bits"+l.words.width(), (m.probe+matchRows-1)/matchRows, mask, t, l.words.argument(), kernelset.Flag(without))
	}
	if err := m.lookUp(c); err != nil {
		return err
	}
	if c.OnHost() {
		return m.matchedOnHost(c, mask, without)
	}
	return c.launch("pairs", "matched_rows", (m.probe+63)/64*64, mask, m.first, m.count, kernelset.Flag(without), uint64(m.probe))
}

// matchedOnHost writes a bit for each row with a match or without one.
func (m *matches) matchedOnHost(c *call, mask memory.Slice[uint8], without bool) error {
	matched, foundErr := m.host()
	bits, bitsErr := mask.Host()
	if err := errors.Join(foundErr, bitsErr, c.waitIdle()); err != nil {
		return err
	}
	clear(bits)
	return c.each(m.probe, func(begin, end int) {
		for row := begin; row < end; row++ {
			if (matched.matchCount(row) == 0) == without {
				bits[row/8] |= 1 << (row % 8)
			}
		}
	})
}
