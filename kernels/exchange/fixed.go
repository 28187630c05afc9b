package exchange

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/exchange/internal/pack"
	"github.com/gpuframe/gpuframe/memory"
)

// gatherFixed moves the values of a column directly to their places in the result. ok is false
// if the column has nulls, or values without a fixed width of whole bytes.
func (m *mover) gatherFixed(sources []countedTable, number, first int) (gathered *column.Column, ok bool, err error) {
	t := sources[0].table.Column(number).Type()
	l, err := layout.Of(t)
	if err != nil || l.Kind != layout.Fixed || l.Width == 0 {
		return nil, false, nil // other code reports a type without a layout
	}
	var total int64
	for _, source := range sources {
		data := source.table.Column(number).Data()
		if data.NullCount != 0 && data.Buffers[0].Len() > 0 {
			return nil, false, nil
		}
		total += source.rows
	}
	high, size := bits.Mul64(uint64(total), uint64(l.Width))
	if high != 0 || int64(size) < 0 {
		return nil, false, fmt.Errorf("%d values of %d bytes: %w", total, l.Width, memory.ErrOverflow)
	}
	values, err := memory.NewSliceContext[uint8](m.ctx, m.to, int(size), memory.AllocateOptions{Tag: m.options.Tag})
	if err != nil {
		return nil, false, fmt.Errorf("on %s: %w", m.to.Device(), err)
	}
	places, err := m.fresh(values)
	if err == nil {
		err = m.placeAll(sources, number, first, l.Width, places)
	}
	if err == nil {
		gathered, err = column.New(column.Data{Type: t, Length: int(total), Buffers: []column.Bytes{{}, values}, Manager: m.to})
	}
	gathered, err = release.OnError(gathered, errors.Join(err, values.Release()))
	return gathered, err == nil, err
}

// placeAll moves the values of all sources to their places.
func (m *mover) placeAll(sources []countedTable, number, first, width int, values memory.Slice[uint8]) error {
	starts := make([]int, len(sources)+1)
	for i, source := range sources {
		starts[i+1] = starts[i] + int(source.rows)*width
	}
	for i := range sources {
		at := (first + i) % len(sources)
		data := sources[at].table.Column(number).Data()
		source, err := data.Buffers[1].Slice(data.Offset*width, (data.Offset+int(sources[at].rows))*width)
		if err != nil {
			return err
		}
		to, err := values.Slice(starts[at], starts[at+1])
		if err != nil {
			return err
		}
		if err := m.transfer(to, &pack.Plan{Regions: []pack.Region{{Source: source}}, Bytes: source.Bytes()}); err != nil {
			return err
		}
	}
	return nil
}
