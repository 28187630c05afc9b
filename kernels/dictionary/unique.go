package dictionary

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// The names of the columns of tables that this package makes.
const (
	ValuesName = "values"
	CountsName = "counts"
)

// Unique returns the distinct values of a column, in the order of their first
// occurrence, as a table of one column, "values". Null is one of them if it occurs. A
// row count of the column that is on the device is heeded. On a GPU the number of values
// stays on the device, and the table has the capacity of the column:
// [selection.Compact] makes it as long as its rows. The caller releases the table.
func Unique(ctx context.Context, c *column.Column, options ...Options) (*buffer.Buffer, error) {
	return tableOf(ctx, "unique", c, wanted{nulls: true}, options, (*distinct).values)
}

// ValueCounts returns the distinct values of a column as Unique does, and how often
// each occurs, as a table of two columns: "values" and, of type int64, "counts".
// The caller releases the table.
func ValueCounts(ctx context.Context, c *column.Column, options ...Options) (*buffer.Buffer, error) {
	return tableOf(ctx, "value counts", c, wanted{nulls: true, codes: true}, options, (*distinct).valueCounts)
}

// tableOf finds the distinct values of the rows of a column and makes a table of them.
func tableOf(ctx context.Context, operation string, c *column.Column, w wanted, given []Options,
	make func(*distinct, context.Context) (*buffer.Buffer, error),
) (*buffer.Buffer, error) {
	options, err := op.Only(given)
	if err != nil {
		return nil, failed(operation, err)
	}
	c, err = withDeviceRows(ctx, c, true)
	if err != nil {
		return nil, failed(operation, err)
	}
	defer func() { _ = c.Release() }() // the caller has a reference
	d, err := find(ctx, c, w, options)
	if err != nil {
		return nil, failed(operation, err)
	}
	made, err := make(d, ctx)
	if err = errors.Join(err, d.close()); err != nil {
		return nil, failed(operation, errors.Join(err, made.Release()))
	}
	return made, nil
}

// values returns the rows that are the first of their key.
func (d *distinct) values(ctx context.Context) (values *buffer.Buffer, err error) {
	schema := arrow.NewSchema([]arrow.Field{{Name: ValuesName, Type: d.column.Type(), Nullable: true}}, nil)
	table, err := buffer.New(schema, []*column.Column{d.column}, buffer.Rows{Count: int64(d.column.Len())})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, table.Release()) }()
	firsts, err := d.firsts()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, firsts.Release()) }()
	return selection.FilterMask(ctx, table, firsts, d.options())
}

func (d *distinct) valueCounts(ctx context.Context) (counted *buffer.Buffer, err error) {
	if err := d.encode(); err != nil {
		return nil, err
	}
	values, err := d.values(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, values.Release()) }()
	counts, err := d.counts(ctx, int(values.Capacity()))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, counts.Release()) }()
	return values.AppendColumn(arrow.Field{Name: CountsName, Type: arrow.PrimitiveTypes.Int64}, counts)
}

// counts counts the codes, for so many values.
func (d *distinct) counts(ctx context.Context, capacity int) (counts *column.Column, err error) {
	block, slices, err := d.call.Allocate(8 * uint64(capacity))
	if err != nil {
		return nil, err
	}
	if block != nil {
		defer func() { err = errors.Join(err, block.Release()) }()
		numbers, err := memory.Reinterpret[int64](slices[0])
		if err == nil {
			err = numbers.Fill(d.call.Stream, 0)
		}
		if err == nil {
			err = d.countCodes(ctx, numbers)
		}
		if err != nil {
			return nil, err
		}
	}
	return column.New(column.Data{
		Type: arrow.PrimitiveTypes.Int64, Length: capacity, Buffers: []column.Bytes{{}, slices[0]}, Manager: d.call.Manager,
	})
}

func (d *distinct) countCodes(ctx context.Context, counts memory.Slice[int64]) error {
	if !d.call.OnHost() {
		return d.launch(codesModule, "count_codes", d.column.Len(), d.argument(table{}), d.codes, counts)
	}
	n, err := d.count()
	if err != nil {
		return err
	}
	if err := d.call.Settle(ctx); err != nil {
		return err
	}
	codes, codesErr := d.codes.Host()
	numbers, numbersErr := counts.Host()
	if err := errors.Join(codesErr, numbersErr); err != nil {
		return err
	}
	for _, code := range codes[:n] {
		numbers[code]++
	}
	return nil
}
