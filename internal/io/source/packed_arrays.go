package source

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/packed"
)

// rawPacked is a packed column of a host table: the bytes are its blocks.
type rawPacked struct{ packed.Column }

// String implements [rawColumn].
func (c *rawPacked) String() string { return "packed " + c.Type.String() }

func (*rawPacked) form() rawForm { return packedForm{} }

// packedForm is the form of packed columns.
type packedForm struct{}

// length implements [rawForm].
func (packedForm) length(record arrow.Record, places []int) (bytes, weighted int64) {
	for _, place := range places {
		values := record.Column(place)
		c, _ := rawAs[*rawPacked](values.DataType())
		bytes += int64(float64(c.Bytes()) * float64(values.Len()) / float64(max(c.Rows, 1)))
	}
	return bytes, bytes
}

// packedBatch is the blocks of packed columns, on the device.
type packedBatch struct{ *packed.Batch }

// copy implements [rawForm].
func (packedForm) copy(ctx context.Context, to rawTarget, records []arrow.Record, places []int) (rawBatch, error) {
	columns := make([]packed.Column, len(places))
	for i, place := range places {
		var err error
		if columns[i], err = packedColumn(records, place); err != nil {
			return nil, err
		}
	}
	batch, err := packed.Copy(ctx, to.manager, columns, packed.Options{Tag: to.tag, CopyStream: to.ahead})
	if err != nil {
		return nil, err
	}
	return packedBatch{batch}, nil
}

// decode implements [rawBatch].
func (b packedBatch) decode(ctx context.Context) ([]*column.Column, error) { return b.Unpack(ctx) }

// release implements [rawBatch].
func (b packedBatch) release() error { return b.Release() }

// packedColumn joins the rows of records of a packed column. Rows that are left out are whole blocks, or before the
// first record, or behind the last one.
func packedColumn(records []arrow.Record, place int) (c packed.Column, err error) {
	var before *rawPacked
	next := int64(-1) // block of before
	for _, record := range records {
		values := record.Column(place)
		t, _ := rawAs[*rawPacked](values.DataType())
		first, rows := int64(values.Data().Offset()), int64(values.Len())
		if rows == 0 {
			continue
		}
		begin, end := first/packed.BlockRows, (first+rows+packed.BlockRows-1)/packed.BlockRows
		known := int64(0)
		for i := range c.Blocks {
			known += int64(c.Blocks[i].Rows)
		}
		switch {
		case before == nil:
			c = packed.Column{Type: t.Type, First: first % packed.BlockRows}
		case t == before && begin == next-1 && c.First+c.Rows == known-int64(c.Blocks[len(c.Blocks)-1].Rows)+first%packed.BlockRows:
			begin = next // its first block is there
		case c.First+c.Rows != known || first%packed.BlockRows != 0:
			return c, fmt.Errorf("internal error: %d rows from row %d on of a packed column do not follow %d: %w", rows, first, c.Rows, ErrArgument)
		}
		c.Blocks = append(c.Blocks, t.Blocks[begin:end]...)
		if t.Dictionary.Len() >= c.Dictionary.Len() {
			c.Dictionary = t.Dictionary // the greatest one has the strings of all
		}
		c.Rows += rows
		before, next = t, end
	}
	return c, nil
}

// onHost implements [rawForm].
func (packedForm) onHost(ctx context.Context, schema *arrow.Schema, record arrow.Record, places []int) ([]arrow.Record, error) {
	return eachPart(schema, record, places, func(part arrow.Record, place int) (arrow.Array, error) {
		c, err := packedColumn([]arrow.Record{part}, place)
		if err != nil {
			return nil, err
		}
		return c.Array(ctx, arrowmemory.DefaultAllocator)
	})
}

// rawJoined is a column of a host table that is not packed, in several arrays. It has no bytes.
type rawJoined struct {
	t      arrow.DataType
	arrays []arrow.Array
}

// String implements [rawColumn].
func (c *rawJoined) String() string { return "arrays of " + c.t.String() }

func (*rawJoined) form() rawForm { return joinedForm{} }

// parts returns the arrays of some rows, which the caller releases.
func (c *rawJoined) parts(values arrow.Array) (list []arrow.Array) {
	first, rows, at := int64(values.Data().Offset()), int64(values.Len()), int64(0)
	for _, a := range c.arrays {
		n := int64(a.Len())
		if from, to := max(first, at), min(first+rows, at+n); from < to {
			list = append(list, array.NewSlice(a, from-at, to-at))
		}
		at += n
	}
	return list
}

// joinedForm is the form of columns in several arrays.
type joinedForm struct{}

// length implements [rawForm].
func (joinedForm) length(record arrow.Record, places []int) (bytes, weighted int64) {
	for _, place := range places {
		c, _ := rawAs[*rawJoined](record.Column(place).DataType())
		length, rows := int64(0), 0
		for _, a := range c.arrays {
			length, rows = length+valueBytes(a), rows+a.Len()
		}
		bytes += int64(float64(length) * float64(record.NumRows()) / float64(max(rows, 1)))
	}
	return bytes, bytes
}

// copy implements [rawForm].
func (joinedForm) copy(ctx context.Context, to rawTarget, records []arrow.Record, places []int) (rawBatch, error) {
	arrays := make([][]arrow.Array, len(places))
	defer func() {
		for _, list := range arrays {
			release.Arrow(list)
		}
	}()
	for i, place := range places {
		for _, record := range records {
			c, _ := rawAs[*rawJoined](record.Column(place).DataType())
			arrays[i] = append(arrays[i], c.parts(record.Column(place))...)
		}
	}
	columns, err := to.copyArrays(ctx, places, arrays)
	return &joinedBatch{columns}, err
}

// joinedBatch is columns on the device.
type joinedBatch struct{ columns []*column.Column }

// decode implements [rawBatch].
func (b *joinedBatch) decode(context.Context) (columns []*column.Column, err error) {
	columns, b.columns = b.columns, nil
	return columns, nil
}

// release implements [rawBatch].
func (b *joinedBatch) release() error { return release.All(b.columns) }

// onHost implements [rawForm].
func (joinedForm) onHost(_ context.Context, schema *arrow.Schema, record arrow.Record, places []int) ([]arrow.Record, error) {
	return eachPart(schema, record, places, func(part arrow.Record, place int) (arrow.Array, error) {
		c, _ := rawAs[*rawJoined](part.Column(place).DataType())
		return c.parts(part.Column(place))[0], nil
	})
}

// eachPart replaces columns of a record of a host table. A part is rows of one block and one array of each column, because one
// array may be too small for the strings of several.
func eachPart(schema *arrow.Schema, record arrow.Record, places []int, values func(part arrow.Record, place int) (arrow.Array, error)) (parts []arrow.Record, err error) {
	for at := int64(0); at < record.NumRows(); {
		part := record.NewSlice(at, at+partRows(record, at))
		at += part.NumRows()
		replaced, err := replacedColumns(schema, part, places, values)
		part.Release()
		if err != nil {
			return parts, err
		}
		parts = append(parts, replaced)
	}
	return parts, nil
}

func replacedColumns(schema *arrow.Schema, part arrow.Record, places []int, values func(part arrow.Record, place int) (arrow.Array, error)) (arrow.Record, error) {
	fields, columns := part.Schema().Fields(), slices.Clone(part.Columns())
	for _, place := range places {
		replaced, err := values(part, place)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", fields[place].Name, err)
		}
		defer replaced.Release()
		columns[place], fields[place].Type = replaced, schema.Field(place).Type
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, part.NumRows()), nil
}

// partRows is the number of rows from a row of a record on that are in one block of each column, or in one array.
func partRows(record arrow.Record, row int64) int64 {
	rows := record.NumRows() - row
	for _, values := range record.Columns() {
		first := int64(values.Data().Offset()) + row
		if _, ok := rawAs[*rawPacked](values.DataType()); ok {
			rows = min(rows, packed.BlockRows-first%packed.BlockRows)
		}
		if c, ok := rawAs[*rawJoined](values.DataType()); ok {
			for _, a := range c.arrays {
				if first < int64(a.Len()) {
					rows = min(rows, int64(a.Len())-first)
					break
				}
				first -= int64(a.Len())
			}
		}
	}
	return rows
}
