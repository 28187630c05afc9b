package source

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/packed"
)

// Rows of host tables are copied by a stream of their own, while the query works on the table before: the link and the
// processors of the GPU are busy at the same time.

// hostCopy is the records of one table on the device: packed columns, which the query's stream unpacks, and others.
type hostCopy struct {
	records []arrow.Record
	// places are those of the packed columns, others those of the others.
	places, others []int
	packed         *packed.Batch
	plain          []*column.Column

	// done is closed when the copy has ended.
	done   chan struct{}
	cancel context.CancelFunc
	err    error
}

// copyStreams are the streams that copy, one for each device. They stay, because columns are of them.
var copyStreams perdevice.Cache[*device.Stream]

// aheadShare is the part of the free budget, as a divisor, that a copy takes at most if the query does not wait for it.
const aheadShare = 4

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

// bytes is about the length of the copy.
func (c *hostCopy) bytes() (bytes uint64) {
	for _, record := range c.records {
		for _, values := range record.Columns() {
			bytes += uint64(heldBytes(values))
		}
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
			t := values.DataType().(*joinedType)
			chunks[i] = append(chunks[i], t.parts(int64(values.Data().Offset()), int64(values.Len()))...)
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

// copiedFromHost copies records of a host table, or takes the copy of them that has begun.
func (l *loader) copiedFromHost(ctx context.Context, records []arrow.Record) (table *buffer.Buffer, err error) {
	c, err := l.takeAhead(records)
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = newHostCopy(records)
		err = c.run(ctx, l, nil)
	}
	if err == nil {
		table, err = c.table(ctx, l)
	}
	return release.OnError(table, err, c.release())
}

// lookAhead begins the copy of the next table, if memory is not short.
func (l *loader) lookAhead(ctx context.Context) {
	if !l.looksAhead || l.take != nil {
		return
	}
	if err := l.collect(ctx); err != nil || len(l.pending) == 0 || l.most > 0 && l.pendingRows > l.most || !hasPacked(l.pending[:1]) {
		return // the next call has the error
	}
	c := newHostCopy(slices.Clone(l.pending))
	if l.manager.Check(aheadShare*c.bytes()) != nil {
		return
	}
	stream, err := copyStreams.Get(l.manager.Device(), (*device.Device).NewStream)
	if err != nil {
		return
	}
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.done = make(chan struct{})
	l.ahead = c
	go func() {
		defer close(c.done)
		c.err = c.run(ctx, l, stream)
	}()
}

// takeAhead returns the copy of records that has begun, or nil if there is none or it got no memory.
func (l *loader) takeAhead(records []arrow.Record) (*hostCopy, error) {
	c := l.ahead
	if c == nil {
		return nil, nil
	}
	l.ahead = nil
	<-c.done
	c.cancel()
	if c.err == nil && slices.Equal(c.records, records) {
		return c, nil
	}
	return nil, c.release()
}

// endAhead ends the copy that has begun.
func (l *loader) endAhead() error {
	if l.ahead == nil {
		return nil
	}
	l.ahead.cancel()
	_, err := l.takeAhead(nil)
	return err
}
