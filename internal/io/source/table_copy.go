package source

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
)

// tableCopy is the columns of records on the device: the bytes of raw columns, and the values of others. Columns with
// dictionaries are copied when the table is made.
type tableCopy struct {
	target  rawTarget
	records []arrow.Record
	raw     []rawPart
	// plain are the columns at places.
	places []int
	plain  []*column.Column
}

// rawPart is the columns of a form.
type rawPart struct {
	places []int
	batch  rawBatch
}

// copyTable copies records to a device.
func copyTable(ctx context.Context, to rawTarget, records []arrow.Record) (c *tableCopy, err error) {
	c = &tableCopy{target: to, records: records}
	defer func() { c, err = release.OnError(c, err) }()
	for _, form := range formsOf(records[0]) {
		places := placesOf(records[0], form)
		batch, err := form.copy(ctx, to, records, places)
		if err != nil {
			return c, err
		}
		c.raw = append(c.raw, rawPart{places, batch})
	}
	var arrays [][]arrow.Array
	for _, place := range placesOf(records[0], nil) {
		if arrow.TypeEqual(records[0].Schema().Field(place).Type, to.schema.Field(place).Type) {
			c.places, arrays = append(c.places, place), append(arrays, columnOf(records, place))
		}
	}
	if len(arrays) > 0 {
		c.plain, err = to.copyArrays(ctx, c.places, arrays)
	}
	return c, err
}

// copyArrays copies the values of columns at places.
func (t rawTarget) copyArrays(ctx context.Context, places []int, arrays [][]arrow.Array) ([]*column.Column, error) {
	return column.FromArrays(ctx, t.manager, arrays, column.UploadOptions{
		Stream: t.ahead, Tag: t.tag, Spare: t.ahead != nil,
		Name: func(i int) string { return t.schema.Field(places[i]).Name },
	})
}

// copyLength is about the length of a copy of records.
func copyLength(records []arrow.Record) (bytes uint64) {
	for _, record := range records {
		raw, _ := rawLength(record)
		bytes += uint64(raw)
		for _, place := range placesOf(record, nil) {
			bytes += uint64(valueBytes(record.Column(place)))
		}
	}
	return bytes
}

// decompressed is the memory of what was decompressed when it was copied. c may be nil.
func (c *tableCopy) decompressed() (bytes uint64) {
	if c == nil {
		return 0
	}
	for _, part := range c.raw {
		if b, ok := part.batch.(decompresser); ok {
			bytes += b.decompressed()
		}
	}
	return bytes
}

// table decodes the columns and makes a table of them.
func (c *tableCopy) table(ctx context.Context) (table *buffer.Buffer, err error) {
	columns := make([]*column.Column, c.target.schema.NumFields())
	defer func() {
		for _, each := range columns {
			if each != nil {
				err = errors.Join(err, each.Release()) // the table has references
			}
		}
		table, err = release.OnError(table, err)
	}()
	for _, part := range c.raw {
		decoded, err := part.batch.decode(ctx)
		if err != nil {
			return nil, err
		}
		for i, place := range part.places {
			columns[place] = decoded[i]
		}
	}
	for i, place := range c.places {
		columns[place] = c.plain[i]
	}
	c.plain = nil
	if err := c.copyEncoded(ctx, columns); err != nil {
		return nil, err
	}
	rows := int64(0)
	for _, record := range c.records {
		rows += record.NumRows()
	}
	all := buffer.Rows{Count: rows, Manager: c.target.manager}
	for i, values := range columns {
		if isEncoded(values, c.target.schema.Field(i).Type) {
			return c.target.filter.selected(ctx, c.target, columns, all)
		}
	}
	return op.Table(c.target.schema, columns, all)
}

// Release gives the memory of the copy back. A table of it has its own. c may be nil.
func (c *tableCopy) Release() error {
	if c == nil {
		return nil
	}
	err := release.All(c.plain)
	for _, part := range c.raw {
		err = errors.Join(err, part.batch.release())
	}
	c.plain, c.raw = nil, nil
	return err
}
