package source

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
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
func (packedForm) length(record arrow.Record, places []int) (bytes, weight int64) {
	for _, place := range places {
		values := record.Column(place)
		c, _ := rawAs[*rawPacked](values.DataType())
		bytes += int64(float64(c.Bytes()) * float64(values.Len()) / float64(max(c.Rows, 1)))
	}
	return bytes, 1
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
	fields, columns := record.Schema().Fields(), make([]arrow.Array, record.NumCols())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i := range columns {
		if !slices.Contains(places, i) {
			columns[i] = record.Column(i)
			columns[i].Retain()
			continue
		}
		c, err := packedColumn([]arrow.Record{record}, i)
		if err == nil {
			columns[i], err = c.Array(ctx, arrowmemory.DefaultAllocator)
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
		fields[i].Type = schema.Field(i).Type
	}
	return []arrow.Record{array.NewRecord(arrow.NewSchema(fields, nil), columns, record.NumRows())}, nil
}
