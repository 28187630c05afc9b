package staging

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

// Engine makes the transfers of one device. It is safe for concurrent use.
type Engine struct {
	device *device.Device
	crew   crew
	ring   ring
	// slots are chunks for short transfers, which are many at a time if many queries wait for
	// numbers of rows: each holds its chunk until its stream reaches the copy.
	slots ring
	// long has an element while the parts of an upload are enqueued.
	long chan struct{}
}

// Options configure an Engine. The zero value suits most programs.
type Options struct {
	// Workers is the number of goroutines that fill or empty chunks concurrently,
	// including the caller. Zero means three quarters of the processors, at most
	// twelve.
	Workers int
	// ChunkBytes is the size of a chunk. Zero means 4 MiB.
	ChunkBytes int
	// Chunks is the largest number of chunks. Zero means Workers + 4, and 128 of 32 KiB for short
	// transfers.
	Chunks int
}

const defaultChunkBytes = 4 << 20

// slotBytes is the size of a chunk for short transfers, and mostSlots the largest number of them.
const (
	slotBytes = 32 << 10
	mostSlots = 128
)

// New returns an engine. It makes no driver call. The caller closes the engine before
// the device.
func New(dev *device.Device, options Options) (*Engine, error) {
	if options.Workers < 0 || options.ChunkBytes < 0 || options.Chunks < 0 {
		return nil, fmt.Errorf("staging options %+v hold a negative number: %w", options, device.ErrInvalidValue)
	}
	if options.Workers == 0 {
		options.Workers = defaultWorkers()
	}
	if options.ChunkBytes == 0 {
		options.ChunkBytes = defaultChunkBytes
	}
	slots := 0
	if options.Chunks == 0 {
		options.Chunks, slots = options.Workers+4, mostSlots
	}
	return &Engine{
		device: dev,
		long:   make(chan struct{}, 1),
		crew:   crew{size: options.Workers},
		ring:   newRing(dev, uint64(options.ChunkBytes), options.Chunks),
		slots:  newRing(dev, min(slotBytes, uint64(options.ChunkBytes)), slots),
	}, nil
}

// ringFor returns the ring with the chunks for a transfer.
func (e *Engine) ringFor(s *sequence) *ring {
	if e.slots.limit > 0 && s.bytes <= e.slots.chunkBytes {
		return &e.slots
	}
	return &e.ring
}

// Upload copies host memory to spans, which must not overlap. It returns when the host
// memory may be reused; work that is enqueued on the stream afterwards sees the new
// contents. After an error parts of the transfer may still be in progress, but they do
// not access the caller's memory.
func (e *Engine) Upload(ctx context.Context, stream *device.Stream, spans []Span) error {
	if err := errors.Join(cancel.Error(ctx), streamwork.RefuseCapture(stream)); err != nil {
		return err
	}
	p := makePlan(spans, e.pinned)
	if err := e.write(ctx, stream, &p.inPlace); err != nil {
		return err
	}
	err := e.uploadDirect(ctx, stream, p.blank, p.direct)
	if err == nil && p.staged.bytes > 0 {
		err = e.ringFor(&p.staged).during(func() error { return e.newFeed(ctx, stream, &p.staged).run() })
	}
	return e.waitDirect(stream, p.direct, err)
}

// Download copies spans to host memory, after the work that is on the stream now, and
// returns when the copies are complete. After an error nothing accesses the caller's
// memory any more.
func (e *Engine) Download(ctx context.Context, stream *device.Stream, spans []Span) error {
	if err := errors.Join(cancel.Error(ctx), streamwork.RefuseCapture(stream)); err != nil {
		return err
	}
	p := makePlan(spans, e.pinned)
	if err := e.read(ctx, stream, &p.inPlace); err != nil {
		return err
	}
	err := e.enqueueDirect(stream, nil, p.direct, func(copy directCopy, handle backend.Stream) error {
		return e.device.Driver().CopyToHostAsync(copy.host(), copy.at, copy.bytes(), handle)
	})
	if err == nil && p.staged.bytes > 0 {
		err = e.ringFor(&p.staged).during(func() error { return e.drain(ctx, stream, &p.staged) })
	}
	return e.waitDirect(stream, p.direct, err)
}

// enqueueDirect enqueues the fills and the copies that need no staging.
func (e *Engine) enqueueDirect(stream *device.Stream, blank []blankFill, direct []directCopy,
	enqueue func(copy directCopy, handle backend.Stream) error,
) error {
	if len(blank) == 0 && len(direct) == 0 {
		return nil
	}
	return streamwork.EnqueueUncaptured(stream, func(handle backend.Stream) error {
		for _, b := range blank {
			if err := e.device.Driver().MemsetAsync(b.at, uint32(b.value), 1, b.bytes, handle); err != nil {
				return err
			}
		}
		for _, d := range direct {
			if err := enqueue(d, handle); err != nil {
				return err
			}
		}
		return nil
	})
}

// waitDirect waits for the direct copies even after an error: they access the
// caller's memory and cannot be cancelled.
func (e *Engine) waitDirect(stream *device.Stream, direct []directCopy, err error) error {
	if len(direct) == 0 {
		return err
	}
	if waiting := quiesce(stream); err == nil {
		err = waiting
	}
	return err
}

// quiesce waits for all work on the stream, even if no event can be created to mark it.
// A capture that has started since does not matter: transfers are not part of it.
func quiesce(stream *device.Stream) error {
	if streamwork.SynchronizeUncaptured(stream, context.Background()) == nil {
		return nil
	}
	return streamwork.EnqueueUncaptured(stream, stream.Device().Driver().StreamSynchronize)
}

func (e *Engine) pinned(data []byte) bool {
	host := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	info, err := e.device.Driver().PointerInfo(device.Pointer(host))
	return err == nil && info.Kind == device.MemoryPinned
}

func (c directCopy) host() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(c.data)) }
func (c directCopy) bytes() uint64        { return uint64(len(c.data)) }

// Stats are the statistics of an engine at one moment.
type Stats struct {
	// Limit is the largest number of pinned bytes, Pinned the current number, and InUse
	// the part of it that transfers hold.
	Limit, Pinned, InUse uint64
}

// Stats returns the current statistics.
func (e *Engine) Stats() Stats {
	s, slots := e.ring.stats(), e.slots.stats()
	return Stats{Limit: s.Limit + slots.Limit, Pinned: s.Pinned + slots.Pinned, InUse: s.InUse + slots.InUse}
}

// Trim frees unused chunks until at most keep bytes are pinned, and returns the number
// of bytes freed. It does not wait for work on the device.
func (e *Engine) Trim(keep uint64) (released uint64, err error) {
	slots := e.slots.stats().Pinned
	released, err = e.ring.trim(keep - min(keep, slots))
	if kept := e.ring.stats().Pinned; kept+slots > keep {
		further, failure := e.slots.trim(keep - min(keep, kept))
		released, err = released+further, errors.Join(err, failure)
	}
	return released, err
}

// Warm creates chunks up to the limit. If the context is done it stops and keeps the
// chunks created so far.
func (e *Engine) Warm(ctx context.Context) error {
	if err := e.ring.warm(ctx); err != nil {
		return err
	}
	return e.slots.warm(ctx)
}

// Close frees all chunks that no transfer holds, after the device has finished with
// them. It does not wait for transfers: one in progress fails when it needs another
// chunk, and frees its chunks when it ends. No transfer is possible afterwards.
func (e *Engine) Close() error { return errors.Join(e.ring.close(), e.slots.close()) }
