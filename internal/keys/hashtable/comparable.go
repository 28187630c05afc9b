package hashtable

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// comparable returns a column of the same rows. Two of its elements are equal if the
// values of the rows are. For a dictionary that is known to be unique these are the codes. For any
// other dictionary each code is replaced by that of the first equal value, and by
// null if the value is null. The caller releases the column.
func (g *Groups) comparable(ctx context.Context) (taken *column.Column, err error) {
	values := g.column.Dictionary()
	if values == nil {
		return g.column, g.column.Retain()
	}
	codes, err := g.column.Indices()
	if err != nil {
		return nil, err
	}
	if comparableCodes(values) {
		return codes, nil
	}
	defer func() { err = errors.Join(err, codes.Release()) }()
	firsts, err := g.firstEquals(values)
	if err != nil {
		return nil, err
	}
	taken, err = selection.TakeColumnWith(ctx, firsts, codes, selection.TakeOptions{Options: g.scratchOptions(), Bounds: selection.Null})
	if err = errors.Join(err, firsts.Release()); err != nil {
		return nil, errors.Join(err, taken.Release())
	}
	return taken, nil
}

// firstEquals returns, for each value of a dictionary, a number that equal values share,
// less than the number of values, and null for a value that is null.
func (g *Groups) firstEquals(values *column.Column) (*column.Column, error) {
	v := &Groups{call: g.call, wanted: WithCodes, column: values, keys: values}
	v.call.Tag = op.ScratchTag
	for range 2 { // Release releases the column and the keys
		if err := values.Retain(); err != nil {
			return nil, err
		}
	}
	err := v.findFirsts()
	var numbers *column.Column
	if err == nil {
		numbers, err = column.New(column.Data{
			Type: arrow.PrimitiveTypes.Uint32, Length: values.Len(), Offset: v.bit, NullCount: values.NullCount(),
			Buffers: []column.Bytes{v.valid, v.padded.AsBytes()}, Manager: g.call.Manager,
		})
	}
	if err = errors.Join(err, v.Release()); err != nil {
		return nil, errors.Join(fmt.Errorf("compare the values of the dictionary: %w", err), numbers.Release())
	}
	return numbers, nil
}
