package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/streamcopy"
)

// staging moves ordinary memory to and from a device through chunks of pinned
// memory: goroutines fill chunks while the device copies those that are full.
// Pageable memory otherwise travels at the speed of one thread of the driver's.
type staging struct {
	device     *device.Device
	crew       crew
	chunkBytes uint64

	// idle holds the chunks that no worker has, the longest returned first. A
	// chunk in it may still be read by the device: its event tells.
	idle chan *chunk

	mu      sync.Mutex
	closed  bool
	created int
	all     []*chunk
}

// chunk is a piece of pinned memory and the event of its last copy.
type chunk struct {
	pointer unsafe.Pointer
	memory  []byte
	event   *device.Event
}

const defaultChunkBytes = 4 << 20

func (s *staging) open(dev *device.Device, options StagingOptions) error {
	if options.Workers < 0 || options.ChunkBytes < 0 || options.Chunks < 0 {
		return fmt.Errorf("Options.Staging holds a negative number: %w", device.ErrInvalidValue)
	}
	s.device, s.crew.size, s.chunkBytes = dev, options.Workers, uint64(options.ChunkBytes)
	if s.crew.size == 0 {
		s.crew.size = defaultWorkers()
	}
	if s.chunkBytes == 0 {
		s.chunkBytes = defaultChunkBytes
	}
	chunks := options.Chunks
	if chunks == 0 {
		chunks = s.crew.size + 4
	}
	s.idle = make(chan *chunk, chunks)
	return nil
}

// close frees the chunks once the device is done with them. No transfer may be
// under way.
func (s *staging) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failures []error
	for _, c := range s.all {
		failures = append(failures, c.event.Wait(context.Background()),
			c.event.Close(), s.device.Driver().HostFree(c.pointer))
	}
	s.all, s.closed = nil, true
	for len(s.idle) > 0 {
		<-s.idle
	}
	return errors.Join(failures...)
}

// take returns a chunk that nothing uses any more, waiting for one if all are in
// use.
func (s *staging) take(ctx context.Context) (*chunk, error) {
	c, err := s.takeIdle(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.event.Wait(ctx); err != nil {
		s.idle <- c
		return nil, err
	}
	return c, nil
}

// takeIdle returns the chunk that is likeliest to be done with, or a new one
// where all others are still travelling and there may be more.
func (s *staging) takeIdle(ctx context.Context) (*chunk, error) {
	select {
	case c := <-s.idle:
		if done, err := c.event.Done(); done || err != nil {
			return c, nil // the wait for it will tell the error
		}
		fresh, _ := s.create()
		if fresh == nil {
			return c, nil // waiting for this one will do
		}
		s.idle <- c
		return fresh, nil
	default:
	}
	if fresh, err := s.create(); fresh != nil || err != nil {
		return fresh, err
	}
	select {
	case c := <-s.idle:
		return c, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// create makes a chunk, or returns nil if there are as many as there may be.
func (s *staging) create() (*chunk, error) {
	s.mu.Lock()
	if s.closed || s.created == cap(s.idle) {
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return nil, fmt.Errorf("staging memory: manager: %w", ErrClosed)
		}
		return nil, nil
	}
	s.created++
	s.mu.Unlock()

	c, err := s.allocate()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.created--
		return nil, fmt.Errorf("allocate pinned staging memory: %w", err)
	}
	s.all = append(s.all, c)
	return c, nil
}

func (s *staging) allocate() (*chunk, error) {
	pointer, err := s.device.Driver().HostAlloc(s.chunkBytes)
	if err != nil {
		return nil, err
	}
	event, err := s.device.NewEvent()
	if err != nil {
		return nil, errors.Join(err, s.device.Driver().HostFree(pointer))
	}
	return &chunk{pointer: pointer, memory: unsafe.Slice((*byte)(pointer), s.chunkBytes), event: event}, nil
}

// cut divides spans into lots: few and large where there is much, so that the
// link is kept busy, and at least two where there is little, so that the device
// copies the first while the second is filled.
func (s *staging) cut(spans []*span) []*lot {
	var total uint64
	for _, each := range spans {
		total += each.bytes
	}
	return cut(spans, min(max(roundUp(total/2, smallestPart), smallestLot), s.chunkBytes))
}

// upload stages a span to the device.
func (s *staging) upload(ctx context.Context, stream *device.Stream, whole *span) error {
	staged, direct := whole.splitPinned(s.device)
	if len(direct) > 0 {
		if err := s.uploadDirect(stream, whole, direct); err != nil {
			return err
		}
	}
	lots := s.cut(staged)
	parts := divide(lots, s.crew.size)
	// Whoever waits for a lot to be opened must learn that it never will be.
	going, stop := context.WithCancelCause(ctx)
	err := s.crew.run(ctx, len(parts), func(task int) error {
		err := s.fill(ctx, going, parts[task], stream)
		if err != nil {
			stop(err)
		}
		return err
	})
	stop(nil)
	if err != nil {
		s.abandon(lots)
	}
	if len(direct) > 0 {
		// The caller's own memory is being read: its use cannot be cut short.
		if waiting := stream.Synchronize(context.Background()); err == nil {
			err = waiting
		}
	}
	return err
}

// fill gathers a part into its lot's chunk and sends the chunk when it is full.
// The first part of a lot takes the chunk for it.
func (s *staging) fill(ctx, going context.Context, p part, stream *device.Stream) error {
	l := p.lot
	if p.first {
		c, err := s.take(ctx)
		l.chunk.Store(c)
		l.failure = err
		close(l.opened)
	}
	c := l.chunk.Load()
	if c == nil {
		select {
		case <-l.opened:
		case <-going.Done():
			return context.Cause(going)
		}
		if l.failure != nil {
			return l.failure
		}
		c = l.chunk.Load()
	}
	l.span.gather(c.memory[p.offset:p.offset+p.bytes], l.offset+p.offset, streamcopy.Copy)
	if l.left.Add(-1) > 0 {
		return nil
	}
	return s.send(l, stream)
}

// send enqueues the copy of a full chunk and returns the chunk, which is idle
// once its event is reached.
func (s *staging) send(l *lot, stream *device.Stream) error {
	c := l.chunk.Swap(nil)
	defer func() { s.idle <- c }()
	err := stream.Enqueue(func(handle backend.Stream) error {
		return s.device.Driver().CopyToDeviceAsync(l.span.base.Add(l.offset), c.pointer, l.bytes, handle)
	})
	if err != nil {
		return err
	}
	return c.event.Record(stream)
}

// abandon returns the chunks of lots that a failure left half full.
func (s *staging) abandon(lots []*lot) {
	for _, l := range lots {
		if c := l.chunk.Load(); c != nil {
			s.idle <- c
		}
	}
}

// uploadDirect clears the whole destination, for the padding between pieces, and
// sends the pinned ones.
func (s *staging) uploadDirect(stream *device.Stream, whole *span, direct []piece) error {
	clearing := func(handle backend.Stream) error {
		return s.device.Driver().MemsetAsync(whole.base, 0, 1, whole.bytes, handle)
	}
	if err := stream.Enqueue(clearing); err != nil {
		return err
	}
	return copyDirect(stream, true, whole.base, direct)
}

// download stages spans from the device.
func (s *staging) download(ctx context.Context, stream *device.Stream, spans []*span) error {
	var staged []*span
	anyDirect := false
	for _, whole := range spans {
		rest, direct := whole.splitPinned(s.device)
		staged = append(staged, rest...)
		if len(direct) > 0 {
			anyDirect = true
			if err := copyDirect(stream, false, whole.base, direct); err != nil {
				return err
			}
		}
	}
	lots := cut(staged, s.chunkBytes)
	if len(lots) < 2*s.crew.size {
		lots = s.cutEvenly(staged)
	}
	err := s.crew.run(ctx, len(lots), func(task int) error { return s.receive(ctx, lots[task], stream) })
	if anyDirect {
		if waiting := stream.Synchronize(context.Background()); err == nil {
			err = waiting
		}
	}
	return err
}

// receive copies a lot through a chunk to where it belongs.
func (s *staging) receive(ctx context.Context, l *lot, stream *device.Stream) error {
	c, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer func() { s.idle <- c }()
	err = stream.Enqueue(func(handle backend.Stream) error {
		return s.device.Driver().CopyToHostAsync(c.pointer, l.span.base.Add(l.offset), l.bytes, handle)
	})
	if err == nil {
		err = c.event.Record(stream)
	}
	if err == nil {
		err = c.event.Wait(ctx)
	}
	if err != nil {
		return err
	}
	l.span.scatter(c.memory[:l.bytes], l.offset)
	return nil
}

// cutEvenly divides spans so that every worker has some.
func (s *staging) cutEvenly(spans []*span) []*lot {
	var total uint64
	for _, each := range spans {
		total += each.bytes
	}
	even := roundUp(total/uint64(2*s.crew.size), smallestPart)
	return cut(spans, min(max(even, smallestLot), s.chunkBytes))
}
