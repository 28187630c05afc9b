package dictionary

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Encode returns a column of the same values as a dictionary of those that occur,
// in the order of their first occurrence, and 32-bit indices. Nulls stay null, and
// are not in the dictionary. A column that is a dictionary already is returned as
// it is, with one more reference.
//
// Encode waits, until the context ends, for the number of distinct values. The
// caller releases the column.
func Encode(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	encoded, err := encode(ctx, c, choose(options))
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
	n, err := values.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	// What the table's column has beyond the rows does not belong to the dictionary.
	known, err := values.Column(0).Slice(0, int(n))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, known.Release()) }()
	return column.New(column.Data{
		Type:   &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: c.Type()},
		Length: c.Len(), Offset: d.bit, NullCount: c.NullCount(),
		Buffers:    []column.Bytes{d.valid, d.padded.AsBytes()},
		Dictionary: known,
	})
}

// Decode returns the values that a dictionary column stands for. A null index and
// an index of a null value give null. Where the values are of a variable length it
// waits, until the context ends, for their total. A column of another type is
// returned as it is, with one more reference. The caller releases the column.
func Decode(ctx context.Context, c *column.Column, options ...Options) (*column.Column, error) {
	decoded, err := decode(ctx, c, choose(options))
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
	return selection.TakeColumn(ctx, c.Dictionary(), indices, options.Options)
}
