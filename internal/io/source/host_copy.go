package source

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/packed"
)

// hostCopy is records of host memory on the device: packed columns, which the query's stream unpacks, and others.
type hostCopy struct {
	records []arrow.Record
	// places are those of the packed columns, others those of the others.
	places, others []int
	packed         *packed.Batch
	plain          []*column.Column
}

// plainStreams are the streams that copy columns that are not packed, one for each device. They stay as long as the
// device, because these columns are of them.
var plainStreams perdevice.Cache[*device.Stream]

// newHostCopy plans a copy of records.
func newHostCopy(records []arrow.Record) *hostCopy {
	c := &hostCopy{records: records}
	for i, f := range records[0].Schema().Fields() {
		if _, ok := f.Type.(*packedType); ok {
			c.places = append(c.places, i)
		} else {
			c.others = append(c.others, i)
		}
	}
	return c
}

// hostLength is about the length of the columns of a record that are no column chunks.
func hostLength(record arrow.Record) (bytes int64) {
	for _, values := range record.Columns() {
		if !isChunk(values.DataType()) {
			bytes += heldBytes(values)
		}
	}
	return bytes
}

// bytes implements [deviceBytesOf].
func (c *hostCopy) bytes() (bytes uint64) {
	if c.packed != nil {
		bytes = c.packed.Bytes()
	}
	for _, each := range c.plain {
		bytes += each.Bytes()
	}
	return bytes
}

// run copies the records. A nil stream is the manager's.
func (c *hostCopy) run(ctx context.Context, l *loader, stream *device.Stream) error {
	columns := make([]packed.Column, len(c.places))
	for i, place := range c.places {
		var err error
		if columns[i], err = packedColumn(c.records, place); err != nil {
			return err
		}
	}
	var err error
	if c.packed, err = packed.Copy(ctx, l.manager, columns, packed.Options{Tag: l.request.Tag, CopyStream: stream, FailAtOnce: stream != nil}); err != nil {
		return err
	}
	if len(c.others) == 0 {
		return nil
	}
	chunks := make([][]arrow.Array, len(c.others))
	defer func() {
		for _, list := range chunks {
			releaseArrays(list)
		}
	}()
	for i, place := range c.others {
		for _, record := range c.records {
			values := record.Column(place)
			if t, ok := values.DataType().(*joinedType); ok {
				chunks[i] = append(chunks[i], t.parts(int64(values.Data().Offset()), int64(values.Len()))...)
			} else {
				values.Retain()
				chunks[i] = append(chunks[i], values)
			}
		}
	}
	if stream != nil {
		if stream, err = plainStreams.Get(l.manager.Device(), (*device.Device).NewStream); err != nil {
			return err
		}
	}
	c.plain, err = column.FromArrays(ctx, l.manager, chunks, column.UploadOptions{
		Stream: stream, Tag: l.request.Tag, FailAtOnce: stream != nil,
		Name: func(i int) string { return l.schema.Field(c.others[i]).Name },
	})
	return err
}

// table makes the table of a copy that has ended.
func (c *hostCopy) table(ctx context.Context, l *loader) (table *buffer.Buffer, err error) {
	unpacked, err := c.packed.Unpack(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { table, err = release.OnError(table, err, release.All(unpacked)) }()
	columns := make([]*column.Column, l.schema.NumFields())
	for i, place := range c.places {
		columns[place] = unpacked[i]
	}
	for i, place := range c.others {
		columns[place] = c.plain[i]
	}
	rows := int64(0)
	for _, record := range c.records {
		rows += record.NumRows()
	}
	return op.Table(l.schema, columns, buffer.Rows{Count: rows, Manager: l.manager})
}

// release gives the memory of the copy back. The table has its own.
func (c *hostCopy) release() error {
	err := release.All(c.plain)
	if c.packed != nil {
		err = errors.Join(err, c.packed.Release())
	}
	c.plain, c.packed = nil, nil
	return err
}

// copyHost copies records of a host table.
func (l *loader) copyHost(ctx context.Context, records []arrow.Record) (*buffer.Buffer, error) {
	c, err := l.beginHost(ctx, records, nil)
	if err != nil {
		return nil, err
	}
	table, err := c.(*hostCopy).table(ctx, l)
	return release.OnError(table, err, c.release())
}

// beginHost copies the columns of records as they are in host memory. A nil stream is the manager's.
func (l *loader) beginHost(ctx context.Context, records []arrow.Record, stream *device.Stream) (deviceBytesOf, error) {
	c := newHostCopy(records)
	if err := c.run(ctx, l, stream); err != nil {
		return nil, errors.Join(err, c.release())
	}
	return c, nil
}
