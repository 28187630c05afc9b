package hashtable

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// ValuesName is the name of the column in the result of [Groups.Values].
const ValuesName = "values"

// Values returns the first value of each group as a table of one column, "values". On a
// GPU the number of groups stays on the device. The table has the capacity of the column
// or, if that is less, of all values that its type or its dictionary has. The caller
// releases the table.
func (g *Groups) Values(ctx context.Context) (values *buffer.Buffer, err error) {
	if g.listed() {
		return g.listedValues(ctx)
	}
	table, err := buffer.New(tableType(g.column.Type()), []*column.Column{g.column}, buffer.Rows{Count: int64(g.column.Len())})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, table.Release()) }()
	firsts, err := g.FirstRows()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, firsts.Release()) }()
	return selection.FilterMask(ctx, table, firsts, g.Options())
}

// listedValues lists the first rows and takes them.
func (g *Groups) listedValues(ctx context.Context) (values *buffer.Buffer, err error) {
	numbers, err := g.List()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, numbers.Release()) }()
	taken, err := selection.TakeColumnWith(ctx, g.column, numbers, selection.TakeOptions{Options: g.Options(), Bounds: selection.Trust, Distinct: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, taken.Release()) }()
	return buffer.New(tableType(g.column.Type()), []*column.Column{taken}, buffer.Rows{Shared: numbers.RowCount()})
}

// Indices returns the values of the column as indices into values: the column of
// [Groups.Values], or a copy of it. Null rows are null. The groups must be [WithCodes].
// The caller releases the column.
func (g *Groups) Indices(values *column.Column) (*column.Column, error) {
	return column.New(column.Data{
		Type:   &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: g.column.Type()},
		Length: g.column.Len(), Rows: g.column.RowCount(), Offset: g.bit, NullCount: g.column.NullCount(),
		Buffers:    []column.Bytes{g.valid, g.padded.AsBytes()},
		Dictionary: values, Manager: g.call.Manager,
	})
}

// Counts returns the number of rows of each group as a column of int64 with capacity
// rows, at least one for each group. The groups must be [WithCounts]. The caller releases
// the column.
func (g *Groups) Counts(ctx context.Context, capacity int) (counts *column.Column, err error) {
	block, slices, err := g.call.Allocate(8 * uint64(capacity))
	if err != nil {
		return nil, err
	}
	if block != nil {
		defer func() { err = errors.Join(err, block.Release()) }()
		numbers, err := memory.Reinterpret[int64](slices[0])
		if err == nil {
			err = numbers.Fill(g.call.Stream, 0)
		}
		if err == nil {
			err = g.countCodes(ctx, numbers)
		}
		if err != nil {
			return nil, err
		}
	}
	return column.New(column.Data{
		Type: arrow.PrimitiveTypes.Int64, Length: capacity, Buffers: []column.Bytes{{}, slices[0]}, Manager: g.call.Manager,
	})
}

func (g *Groups) countCodes(ctx context.Context, counts memory.Slice[int64]) error {
	if g.call.OnHost() {
		return g.countCodesOnHost(ctx, counts)
	}
	return g.countCodesOnDevice(counts)
}
