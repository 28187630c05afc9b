package dictionary

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Encode returns a column of the same values as a dictionary of those that occur,
// in the order of their first occurrence, and 32-bit indices. Nulls stay null, and
// are not in the dictionary. A column that is a dictionary already is returned as
// it is, with one more reference.
//
// The result has the rows of the column: a row count on the device stays there. Encode
// waits, until the context ends, for the number of distinct values. The caller releases
// the column.
func Encode(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, failed("encode", err)
	}
	encoded, err := encode(ctx, c, only)
	if err != nil {
		return nil, failed("encode", err)
	}
	return encoded, nil
}

func encode(ctx context.Context, c *column.Column, options Options) (encoded *column.Column, err error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Dictionary() != nil {
		return c, c.Retain()
	}
	if c, err = withDeviceRows(ctx, c, false); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Release()) }()
	d, err := find(ctx, c, wanted{codes: true}, options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.encode(); err != nil {
		return nil, err
	}
	values, err := d.values(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, values.Release()) }()
	// The number of values is known now, so they need not keep the memory of all rows.
	compact, err := selection.Compact(ctx, values, d.options())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, compact.Release()) }()
	known := compact.Column(0)
	known.LearnUnique(column.Yes)
	return column.New(column.Data{
		Type:   &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: c.Type()},
		Length: c.Len(), Rows: c.RowCount(), Offset: d.bit, NullCount: c.NullCount(),
		Buffers:    []column.Bytes{d.valid, d.padded.AsBytes()},
		Dictionary: known, Manager: d.call.Manager,
	})
}

// Decode returns the values that a dictionary column stands for. A null index and
// an index of a null value give null. Where the values are of a variable length it
// waits, until the context ends, for their total, and in any case until the indices are
// checked. A column of another type is
// returned as it is, with one more reference. The caller releases the column.
func Decode(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	only, err := op.Only(options)
	if err != nil {
		return nil, failed("decode", err)
	}
	decoded, err := decode(ctx, c, only)
	if err != nil {
		return nil, failed("decode", err)
	}
	return decoded, nil
}

func decode(ctx context.Context, c *column.Column, options Options) (decoded *column.Column, err error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Dictionary() == nil {
		return c, c.Retain()
	}
	indices, err := c.Indices()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, indices.Release()) }()
	return selection.TakeColumn(ctx, c.Dictionary(), indices, options)
}
