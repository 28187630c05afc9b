package text

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// formatting makes strings of values of a fixed width.
type formatting struct {
	// kernel has the kernel, in two launches: of the lengths and of the bytes.
	file, kernel string
	// nulled is true if a text may be null although the value is not. Then the kernel takes a bitmap, too.
	nulled bool
	// table is copied to the device for the kernel.
	table []byte
	// arguments returns the arguments of the kernel behind those of the texts.
	arguments func(in nulls, values column.Bytes, table memory.Slice[uint8]) []any
	// host appends the text of a row, or returns false for a null.
	host func(to, values []byte, row int) ([]byte, bool)
}

// run makes the strings of a column.
func (f *formatting) run(ctx context.Context, operand *column.Column, options kernels.Options) (*column.Column, error) {
	call, err := op.Begin(ctx, options, operand)
	if err != nil {
		return nil, err
	}
	if operand.Len() == 0 {
		return empty(&call, operand, arrow.BinaryTypes.String)
	}
	in, err := nullsOf(&call, operand)
	if err != nil {
		return nil, err
	}
	m, err := newMaker(in, arrow.BinaryTypes.String)
	if err != nil {
		return nil, err
	}
	m.nulled = f.nulled
	values, err := valuesOf(operand)
	if err != nil {
		return nil, err
	}
	if !call.OnHost() {
		return f.onDevice(&call, m, values)
	}
	bytes, err := values.Host()
	if err != nil {
		return nil, err
	}
	return m.onHost(&call, func(to []byte, _, row int) ([]byte, bool) { return f.host(to, bytes, row) })
}

func (f *formatting) onDevice(call *op.Call, m *maker, values column.Bytes) (texts *column.Column, err error) {
	block, table, err := uploaded(call, f.table)
	if err != nil {
		return nil, err
	}
	defer func() { texts, err = release.OnError(texts, err, block.Release()) }()
	arguments := f.arguments(m.nulls, values, table)
	launch := func(texts ...any) error {
		return launchRows(call, f.file, f.kernel, m.column.Len(), append(texts, arguments...)...)
	}
	none, noEnds := memory.Slice[uint8]{}, memory.Slice[int64]{}
	if f.nulled {
		return m.measuredWithNulls(call, func(lengths, valid memory.Slice[uint8]) error {
			return launch(none, noEnds, lengths, valid)
		}, func(to memory.Slice[uint8], ends memory.Slice[int64]) error {
			return launch(to, ends, none, none)
		})
	}
	return m.onDevice(call, func(lengths memory.Slice[uint8]) error {
		return launch(none, noEnds, lengths)
	}, func(to memory.Slice[uint8], ends memory.Slice[int64]) error {
		return launch(to, ends, none)
	})
}

// uploaded copies a table to the device. The caller releases the block.
func uploaded(call *op.Call, table []byte) (*memory.Block, memory.Slice[uint8], error) {
	block, scratch, err := call.Scratch(uint64(len(table)))
	if err != nil || len(table) == 0 {
		return block, memory.Slice[uint8]{}, err
	}
	if err := scratch[0].Upload(call.Context(), call.Stream, table); err != nil {
		return nil, memory.Slice[uint8]{}, errors.Join(err, block.Release())
	}
	return block, scratch[0], nil
}

// valuesOf is the memory of the values of a column of a fixed width.
func valuesOf(c *column.Column) (column.Bytes, error) {
	format, err := layout.Of(c.Type())
	if err != nil {
		return column.Bytes{}, err
	}
	return c.Buffer(1).Slice(c.Offset()*format.Width, (c.Offset()+c.Len())*format.Width)
}
