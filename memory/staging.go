package memory

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
)

// staging moves ordinary memory to and from a device through chunks of pinned
// memory: goroutines fill chunks while the device copies those that are full.
// Pageable memory otherwise travels at the speed of one thread of the driver's.
type staging struct {
	device *device.Device
	crew   crew
	ring   ring
}

const defaultChunkBytes = 4 << 20

func (s *staging) open(dev *device.Device, options StagingOptions) error {
	if options.Workers < 0 || options.ChunkBytes < 0 || options.Chunks < 0 {
		return fmt.Errorf("Options.Staging holds a negative number: %w", device.ErrInvalidValue)
	}
	s.device, s.crew.size = dev, options.Workers
	if s.crew.size == 0 {
		s.crew.size = defaultWorkers()
	}
	s.ring.device, s.ring.chunkBytes, s.ring.limit = dev, uint64(options.ChunkBytes), options.Chunks
	if s.ring.chunkBytes == 0 {
		s.ring.chunkBytes = defaultChunkBytes
	}
	if s.ring.limit == 0 {
		s.ring.limit = s.crew.size + 4
	}
	s.ring.returned = make(chan struct{}, 1)
	return nil
}

func (s *staging) close() error { return s.ring.close() }

// upload stages a span to the device.
func (s *staging) upload(ctx context.Context, stream *device.Stream, whole *span) error {
	staged, direct := whole.splitPinned(s.device)
	var err error
	if len(direct) > 0 {
		err = s.uploadDirect(stream, whole, direct)
	}
	if err == nil {
		err = s.newFeed(ctx, stream, staged).run()
	}
	if len(direct) > 0 {
		// The caller's own memory is being read: its use cannot be cut short.
		if waiting := stream.Synchronize(context.Background()); err == nil {
			err = waiting
		}
	}
	return err
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
	var err error
	anyDirect := false
	for _, whole := range spans {
		rest, direct := whole.splitPinned(s.device)
		staged = append(staged, rest...)
		if len(direct) > 0 && err == nil {
			anyDirect = true
			err = copyDirect(stream, false, whole.base, direct)
		}
	}
	if err == nil {
		lots := s.cutForDownload(staged)
		err = s.crew.run(ctx, len(lots), func(task int) error { return s.receive(ctx, lots[task], stream) })
	}
	if anyDirect {
		if waiting := stream.Synchronize(context.Background()); err == nil {
			err = waiting
		}
	}
	return err
}

// receive copies a lot through a chunk to where it belongs.
func (s *staging) receive(ctx context.Context, l *lot, stream *device.Stream) error {
	c, err := s.ring.take(ctx)
	if err != nil {
		return err
	}
	err = stream.EnqueueMarked(c.event, func(handle backend.Stream) error {
		return s.device.Driver().CopyToHostAsync(c.pointer, l.span.base.Add(l.offset), l.bytes, handle)
	})
	if err == nil {
		err = c.event.Wait(ctx)
	}
	if err == nil {
		l.span.scatter(c.memory[:l.bytes], l.offset)
	}
	s.ring.settle(c, err)
	return err
}

// cutForUpload divides spans into lots: few and large where there is much, so
// that the link is kept busy, and three where there is little, so that the device
// copies the first while the next is filled.
func (s *staging) cutForUpload(spans []*span) []*lot {
	lot := max(roundUp(length(spans)/3, smallestPart), smallestLot)
	return cut(spans, min(lot, s.ring.chunkBytes))
}

// cutForDownload divides spans so that every worker has some.
func (s *staging) cutForDownload(spans []*span) []*lot {
	lot := max(roundUp(length(spans)/uint64(2*s.crew.size), smallestPart), smallestLot)
	return cut(spans, min(lot, s.ring.chunkBytes))
}

func length(spans []*span) (total uint64) {
	for _, each := range spans {
		total += each.bytes
	}
	return total
}
