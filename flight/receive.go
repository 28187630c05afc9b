package flight

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	arrowflight "github.com/apache/arrow/go/v17/arrow/flight"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gpuframe/gpuframe"
)

// DoPut uploads a table.
func (s *service) DoPut(stream arrowflight.FlightService_DoPutServer) error {
	ctx := stream.Context()
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	if statement, err := s.isStatement(first.GetFlightDescriptor().GetCmd()); err != nil {
		return err
	} else if statement {
		return s.bind(stream, first)
	}
	name, err := tableName(first.GetFlightDescriptor())
	if err != nil {
		return err
	}
	c := clientOf(ctx)
	isNew, err := s.server.reserveTable(c, name)
	if err != nil {
		return err
	}
	frame, err := s.collect(ctx, c, &opened{FlightService_DoPutServer: stream, first: first})
	if err := s.server.storeTable(c, name, isNew, frame, err); err != nil {
		return err
	}
	return stream.Send(&arrowflight.PutResult{})
}

// reserveTable begins an upload. A table with a new name counts from now on; one that replaces
// another one needs no room.
func (s *Server) reserveTable(c *client, name string) (isNew bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.shared[name]; ok {
		return false, refused(codes.AlreadyExists, "the table %q is shared by the server: choose another name", name)
	}
	if c.tables[name] != nil {
		return false, nil
	}
	if err := s.roomForTable(c); err != nil {
		return false, err
	}
	c.uploading++
	return true, nil
}

// roomForTable reports that a client has as many tables as it may have. The caller holds mu.
func (s *Server) roomForTable(c *client) error {
	if tables := len(c.tables) + c.uploading; tables >= s.limits.Tables {
		return refused(codes.ResourceExhausted, "client %q has %d tables, its limit: drop one first", c.name, tables)
	}
	return nil
}

// storeTable ends what reserveTable began, with a frame or an error.
func (s *Server) storeTable(c *client, name string, isNew bool, frame *gpuframe.Frame, err error) error {
	s.mu.Lock()
	if isNew {
		c.uploading--
	}
	old := c.tables[name]
	if err == nil && old == nil && !isNew {
		err = s.roomForTable(c) // the table that was to be replaced may have been dropped
	}
	if err == nil {
		c.tables[name] = &upload{frame: frame}
	}
	s.mu.Unlock()
	switch {
	case err != nil && frame != nil:
		return errors.Join(err, frame.Release())
	case err != nil || old == nil:
		return err
	}
	return old.release()
}

// collect reads the batches of an upload into the client's device memory.
func (s *service) collect(ctx context.Context, c *client, stream arrowflight.DataStreamReader) (frame *gpuframe.Frame, err error) {
	defer malformed(&err, "batch")
	stream = &checked{from: stream, schemaBytes: s.server.limits.DocumentBytes}
	reader, err := arrowflight.NewRecordReader(stream, ipc.WithAllocator(s.server.bounded()))
	if err != nil {
		return nil, refused(codes.InvalidArgument, "the upload does not begin with a schema: %v", err)
	}
	defer reader.Release()
	frame, err = c.engine.Reader(reader).Collect(ctx, gpuframe.Tag("flight upload of "+c.name))
	if reading := reader.Err(); err != nil && reading != nil && ctx.Err() == nil {
		if _, ok := status.FromError(reading); !ok { // it is not that of receiving
			return nil, refused(codes.InvalidArgument, "a malformed upload: %v", reading)
		}
	}
	return frame, err
}

// malformed is the error of a panic: arrow-go reads what a client sends with checks that panic.
func malformed(err *error, object string) {
	if reason := recover(); reason != nil {
		*err = refused(codes.InvalidArgument, "malformed %s: %v", object, reason)
	}
}

// bounded returns the allocator for what a client sends.
func (s *Server) bounded() memory.Allocator {
	return &boundAllocator{Allocator: allocator, most: 4 * int64(s.limits.MessageBytes)}
}

// opened is a stream after its first message was received.
type opened struct {
	arrowflight.FlightService_DoPutServer
	first *arrowflight.FlightData
}

// Recv returns the next message.
func (o *opened) Recv() (*arrowflight.FlightData, error) {
	if first := o.first; first != nil {
		o.first = nil
		return first, nil
	}
	return o.FlightService_DoPutServer.Recv()
}

// boundAllocator refuses to allocate more than most bytes at a time. A message contains
// its decompressed size, which is a large number in a hostile one. arrow-go has no errors for
// allocations, so a refusal is a panic, which collect turns into an error.
type boundAllocator struct {
	memory.Allocator
	most  int64
	inUse atomic.Int64
}

// Allocate implements memory.Allocator.
func (b *boundAllocator) Allocate(size int) []byte {
	b.count(int64(size))
	return b.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (b *boundAllocator) Reallocate(size int, data []byte) []byte {
	b.count(int64(size) - int64(len(data)))
	return b.Allocator.Reallocate(size, data)
}

// Free implements memory.Allocator.
func (b *boundAllocator) Free(data []byte) {
	b.inUse.Add(-int64(len(data)))
	b.Allocator.Free(data)
}

func (b *boundAllocator) count(more int64) {
	if now := b.inUse.Add(more); now > b.most || more > math.MaxInt64/2 {
		b.inUse.Add(-more)
		panic(fmt.Errorf("%d bytes in one batch, expected %d at most", now, b.most))
	}
}
