package text

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// parsing reads strings as values of a fixed width, or null.
type parsing struct {
	file, kernel string
	result       arrow.DataType
	// table is copied to the device for the kernel.
	table []byte
	// arguments returns the arguments of the kernel behind the result and the strings.
	arguments func(table memory.Slice[uint8]) []any
	// host returns the value of a text. Those of date32 have 32 bits.
	host func(text string) (value int64, ok bool)
}

// run makes the values of a column.
func (p *parsing) run(ctx context.Context, operand *column.Column, options kernels.Options) (*column.Column, error) {
	call, err := op.Begin(ctx, options, operand)
	if err != nil {
		return nil, err
	}
	in, err := textsOf(&call, operand)
	if err != nil {
		return nil, err
	}
	return call.NewColumn(op.Result{Type: p.result, Length: operand.Len(), RowCount: operand.RowCount(), Nullable: true}, func(out op.Buffers) error {
		switch {
		case operand.Len() == 0:
			return nil
		case call.OnHost():
			return p.onHost(&call, in, out)
		}
		block, table, err := uploaded(&call, p.table)
		if err != nil {
			return err
		}
		arguments := append([]any{out.Values, out.Valid, in.argument()}, p.arguments(table)...)
		return errors.Join(launchRows(&call, p.file, p.kernel, operand.Len(), arguments...), block.Release())
	})
}

func (p *parsing) onHost(call *op.Call, in texts, out op.Buffers) error {
	read, err := in.reader()
	if err != nil {
		return err
	}
	to, err := out.Host()
	if err != nil {
		return err
	}
	clear(to.Values)
	return in.each(call, func(_, row int) {
		value, ok := p.host(string(read(row)))
		switch {
		case !ok:
			return
		case p.result.ID() == arrow.DATE32:
			op.Elements[int32](to.Values)[row] = int32(value)
		default:
			op.Elements[int64](to.Values)[row] = value
		}
		to.SetValid(row)
	})
}
