package flight

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gpuframe/gpuframe/internal/arrays/arrowipc"
)

// encoded is a message FlightData in the form in which it is sent. Its parts lie in the
// buffers of a record: they are not copied into one message.
type encoded struct{ parts mem.BufferSlice }

// codec is gRPC's codec for protocol buffers, which also sends encoded messages.
type codec struct{ encoding.CodecV2 }

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(message any) (mem.BufferSlice, error) {
	if e, ok := message.(*encoded); ok {
		return e.parts, nil
	}
	return c.CodecV2.Marshal(message)
}

// The numbers of the fields of FlightData that the server sends.
const (
	headerField = 2
	bodyField   = 1000
)

// errLarge reports a batch that is larger than a messageWriter's most. Nothing was sent.
var errLarge = errors.New("the batch is larger than a message")

// messageWriter sends what an ipc.Writer writes.
type messageWriter struct {
	stream grpc.ServerStream
	// most is the size of the largest batch, or 0 for no limit.
	most int
	// record is the part of the result that is being written. Its memory is in use until gRPC has sent it.
	record arrow.Record
}

// Start implements ipc.PayloadWriter.
func (w *messageWriter) Start() error { return nil }

// Close implements ipc.PayloadWriter.
func (w *messageWriter) Close() error { return nil }

// WritePayload implements ipc.PayloadWriter.
func (w *messageWriter) WritePayload(p ipc.Payload) error {
	meta := p.Meta()
	defer meta.Release()
	var body pieces
	if err := p.SerializeBody(&body); err != nil {
		return err
	}
	kind, err := arrowipc.KindOf(meta.Bytes())
	if err != nil {
		return fmt.Errorf("flight: send: %w", err)
	}
	if kind == arrowipc.RecordBatch && w.most > 0 && body.bytes > w.most {
		return errLarge
	}
	head := protowire.AppendTag(make([]byte, 0, meta.Len()+32), headerField, protowire.BytesType)
	head = protowire.AppendBytes(head, meta.Bytes())
	head = protowire.AppendTag(head, bodyField, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(body.bytes))
	parts := make(mem.BufferSlice, 0, 1+len(body.list))
	parts = append(parts, mem.SliceBuffer(head))
	for _, piece := range body.list {
		parts = append(parts, w.buffer(piece))
	}
	return w.stream.SendMsg(&encoded{parts})
}

// buffer returns a buffer that holds the record until gRPC has sent it.
func (w *messageWriter) buffer(piece []byte) mem.Buffer {
	if w.record == nil || mem.IsBelowBufferPoolingThreshold(len(piece)) {
		return mem.SliceBuffer(append([]byte(nil), piece...))
	}
	w.record.Retain()
	return mem.NewBuffer(&piece, sent{w.record})
}

// sent releases a record when a buffer of it has been sent.
type sent struct{ record arrow.Record }

// Get implements mem.BufferPool. gRPC does not call it.
func (sent) Get(length int) *[]byte {
	buffer := make([]byte, length)
	return &buffer
}

// Put implements mem.BufferPool.
func (s sent) Put(*[]byte) { s.record.Release() }

// pieces has what was written to it, without a copy.
type pieces struct {
	list  [][]byte
	bytes int
}

// Write implements io.Writer.
func (p *pieces) Write(piece []byte) (int, error) {
	p.list = append(p.list, piece)
	p.bytes += len(piece)
	return len(piece), nil
}

// recycler is an allocator of the host memory of one stream. It uses large buffers again,
// because mapping new memory for each buffer takes as long as the copy from
// the device. Streams share no recycler, so no client gets a byte of another one's results.
type recycler struct {
	mu   sync.Mutex
	idle map[int][][]byte // by capacity
}

// recycledBytes is the size of the smallest buffer that is used again.
const recycledBytes = 64 << 10

// keptBuffers is the number of buffers of one capacity that are kept.
const keptBuffers = 8

// Allocate implements memory.Allocator.
func (r *recycler) Allocate(size int) []byte {
	if size < recycledBytes {
		return allocator.Allocate(size)
	}
	capacity := 1 << bits.Len(uint(size-1))
	r.mu.Lock()
	defer r.mu.Unlock()
	if list := r.idle[capacity]; len(list) > 0 {
		r.idle[capacity] = list[:len(list)-1]
		return list[len(list)-1][:size]
	}
	return allocator.Allocate(capacity)[:size:capacity]
}

// Reallocate implements memory.Allocator.
func (r *recycler) Reallocate(size int, data []byte) []byte {
	if size <= cap(data) {
		return data[:size]
	}
	grown := r.Allocate(size)
	copy(grown, data)
	r.Free(data)
	return grown
}

// Free implements memory.Allocator. It keeps some buffers of each capacity until the stream
// ends.
func (r *recycler) Free(data []byte) {
	capacity := cap(data)
	if capacity < recycledBytes || bits.OnesCount(uint(capacity)) != 1 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle == nil {
		r.idle = map[int][][]byte{}
	}
	if len(r.idle[capacity]) < keptBuffers {
		r.idle[capacity] = append(r.idle[capacity], data[:capacity])
	}
}
