package join

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// filters reports whether the result is a filter of the left table, which reads rows in
// order and needs no numbers of rows. A limit of the rows needs their number.
func (r *run) filters(m *matches) bool {
	if !r.options.Kind.leftOnly() || r.options.MaxRows > 0 || m.probe == 0 {
		return false
	}
	for _, c := range r.result.columns {
		if c.selected {
			return true
		}
	}
	return false
}

// filterLeft keeps the left rows with a match or, for Anti, those without. On a GPU the
// number of rows stays on the device.
func (r *run) filterLeft(m *matches) (*buffer.Buffer, error) {
	var held release.Stack
	kept, err := r.filterBy(&held, m)
	return release.OnError(kept, err, held.Release())
}

func (r *run) filterBy(held *release.Stack, m *matches) (*buffer.Buffer, error) {
	block, slices, err := r.call.Scratch(op.BitmapBytes(m.probe))
	if err != nil {
		return nil, err
	}
	held.Add(block)
	if err := r.lookUp(m); err != nil {
		return nil, err
	}
	if r.call.OnHost() {
		err = r.matchedOnHost(m, slices[0])
	} else {
		err = r.matchedOnDevice(m, slices[0])
	}
	if err != nil {
		return nil, err
	}
	mask, err := column.New(column.Data{Type: arrow.FixedWidthTypes.Boolean, Length: m.probe, Buffers: []column.Bytes{{}, slices[0]}, Manager: r.call.Manager})
	if err != nil {
		return nil, err
	}
	held.Add(mask)
	var columns []*column.Column
	for _, c := range r.result.columns {
		if c.selected {
			columns = append(columns, r.left.Column(c.number))
		}
	}
	schema := r.result.schema(r.left.Schema(), r.right.Schema(), r.options.Kind)
	table, err := buffer.New(schema, columns, buffer.Rows{Count: int64(m.probe), Manager: r.call.Manager})
	if err != nil {
		return nil, err
	}
	held.Add(table)
	return selection.FilterMask(r.call.Context(), table, mask, r.resultOptions())
}

// matchedOnHost writes a bit for each row with a match or, for Anti, without one.
func (r *run) matchedOnHost(m *matches, mask memory.Slice[uint8]) error {
	matched, foundErr := m.host()
	bits, bitsErr := mask.Host()
	if err := errors.Join(foundErr, bitsErr, r.waitIdle()); err != nil {
		return err
	}
	clear(bits)
	without := r.options.Kind == Anti
	return r.each(m.probe, func(begin, end int) {
		for row := begin; row < end; row++ {
			if (matched.matchCount(row) == 0) == without {
				bits[row/8] |= 1 << (row % 8)
			}
		}
	})
}

func (r *run) matchedOnDevice(m *matches, mask memory.Slice[uint8]) error {
	return r.launch("pairs", "matched_rows", (m.probe+63)/64*64, mask, m.first, m.count, word(r.options.Kind == Anti), uint64(m.probe))
}
