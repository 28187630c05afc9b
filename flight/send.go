package flight

import (
	"context"
	"errors"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/arrow/util"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
)

// allocator allocates what the server sends.
var allocator = memory.DefaultAllocator

// send runs a query and streams its batches. While one part is sent the next is computed and
// copied to host memory, which holds three parts of at most partBatches messages. Results of
// one part leave the device before the server waits for the client to take them. Larger ones
// stay in the memory of the client's budget until they are sent.
func (s *Server) send(stream arrowflight.FlightService_DoGetServer, r *request) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	schema, err := r.query.Schema(ctx)
	if err != nil {
		return err
	}
	options := []gpuframe.RunOption{gpuframe.Tag("flight " + clientOf(ctx).name)}
	if r.shared {
		// A shared table is not in the client's memory: it gets there in parts.
		options = append(options, gpuframe.BatchRows(sharedRows(schema, clientOf(ctx).engine.Manager().Stats().Budget)))
	}
	out := &messageWriter{stream: stream}
	writer := ipc.NewWriterWithPayloadWriter(out, ipc.WithSchema(schema), ipc.WithAllocator(allocator))
	records := make(chan arrow.Record)
	failed := make(chan error, 1)
	go func() {
		defer close(records)
		var err error
		defer func() { failed <- err }()
		defer recovered(&err) // of a query: it must not end the server
		if r.table != nil {
			if err = r.table.Retain(); err == nil {
				err = s.download(ctx, r.table, &recycler{}, records)
			}
			return
		}
		err = s.produce(ctx, r.query.Batches(ctx, options...), records)
	}()
	sending := s.write(writer, out, records)
	cancel()
	for record := range records { // of a client that has gone
		record.Release()
	}
	if producing := <-failed; sending == nil {
		sending = producing
	}
	if sending != nil {
		return sending
	}
	return writer.Close()
}

// sharedBytes is about the memory of a part of a shared table.
const sharedBytes = 64 << 20

// sharedRows returns the number of rows of a part of a shared table, for a client with a
// budget, or without one if it is 0. Texts and lists count as 32 bytes: an estimate is enough.
func sharedRows(schema *arrow.Schema, budget uint64) int64 {
	width := int64(1)
	for _, field := range schema.Fields() {
		if fixed, ok := field.Type.(arrow.FixedWidthDataType); ok {
			width += int64(fixed.BitWidth()+7) / 8
		} else {
			width += 32
		}
	}
	bytes := int64(sharedBytes)
	if budget > 0 {
		bytes = min(bytes, int64(min(budget, sharedBytes*8))/8)
	}
	return max(bytes/width, 1000)
}

// partBatches is the number of messages that are copied to the host at a time. A copy of one
// message at a time would wait for the device for each; the memory of a stream is a few parts.
const partBatches = 8

// produce copies the frames of a query to the host, in parts, and passes them on.
func (s *Server) produce(ctx context.Context, frames iter.Seq2[*gpuframe.Frame, error], records chan<- arrow.Record) error {
	host := &recycler{}
	for frame, err := range frames {
		if err != nil {
			return err
		}
		if err := s.download(ctx, frame.Table(), host, records); err != nil {
			return err
		}
	}
	return nil
}

// download passes on the rows of a table, and releases it before it passes on the last ones.
func (s *Server) download(ctx context.Context, table *buffer.Buffer, host *recycler, records chan<- arrow.Record) error {
	most := int64(s.limits.BatchBytes) * partBatches
	rows, err := table.NumRows(ctx)
	if err != nil || rows == 0 {
		return errors.Join(err, table.Release())
	}
	step := rowsOf(most, rows, int64(table.Bytes()))
	for from := int64(0); from < rows; {
		count := min(step, rows-from)
		record, err := rowsFrom(ctx, table, from, count, rows, host)
		if from += count; err != nil || from == rows {
			err = errors.Join(err, table.Release())
		}
		if err != nil {
			return err
		}
		// The table's bytes are those of all its columns and slices. The copy's are exact.
		step = min(rowsOf(most, count, util.TotalRecordSize(record)), 4*step)
		select {
		case records <- record:
		case <-ctx.Done():
			record.Release()
			if from < rows {
				return errors.Join(ctx.Err(), table.Release())
			}
			return ctx.Err()
		}
	}
	return nil
}

// rowsOf returns how many of rows that take up bytes take up most.
func rowsOf(most, rows, bytes int64) int64 {
	if bytes <= most {
		return max(rows, 1)
	}
	return max(int64(float64(rows)*(float64(most)/float64(bytes))), 1)
}

// rowsFrom copies some of the rows of a table to the host.
func rowsFrom(ctx context.Context, table *buffer.Buffer, from, count, rows int64, host *recycler) (record arrow.Record, err error) {
	if count < rows {
		if table, err = table.Slice(from, count); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, table.Release()) }()
	}
	return table.RecordWith(ctx, column.DownloadOptions{Allocator: host})
}

// write sends records in batches of about the limit's bytes.
func (s *Server) write(writer *ipc.Writer, out *messageWriter, records <-chan arrow.Record) error {
	for record := range records {
		err := s.writeParts(writer, out, record)
		record.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) writeParts(writer *ipc.Writer, out *messageWriter, record arrow.Record) error {
	for _, part := range parts(record, s.limits.BatchBytes) {
		if err := s.writePart(writer, out, record, part.from, part.to); err != nil {
			return err
		}
	}
	return nil
}

// writePart sends rows of a record: in one message, or if a few rows are much larger than the
// others, in halves.
func (s *Server) writePart(writer *ipc.Writer, out *messageWriter, record arrow.Record, from, to int64) error {
	part := record.NewSlice(from, to)
	defer part.Release()
	out.record, out.most = part, 0
	if to-from > 1 {
		out.most = s.limits.BatchBytes + s.limits.BatchBytes/2
	}
	err := writer.Write(part)
	out.record = nil
	if !errors.Is(err, errLarge) {
		return err
	}
	middle := from + (to-from)/2
	if err := s.writePart(writer, out, record, from, middle); err != nil {
		return err
	}
	return s.writePart(writer, out, record, middle, to)
}

// span is a range of rows.
type span struct{ from, to int64 }

// parts divides a record into ranges of equally many rows of about most bytes each.
func parts(record arrow.Record, most int) []span {
	rows := record.NumRows()
	step := rowsOf(int64(most), rows, util.TotalRecordSize(record))
	var list []span
	for from := int64(0); from < rows; from += step {
		list = append(list, span{from, min(from+step, rows)})
	}
	return list
}
