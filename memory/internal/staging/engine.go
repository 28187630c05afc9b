package staging

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/cancel"
	"github.com/gpuframe/gpuframe/internal/streamwork"
)

// Engine makes the transfers of one device. It is safe for concurrent use.
type Engine struct {
	device *device.Device
	crew   crew
	ring   ring
}

// Options configure an Engine. The zero value is right for most.
type Options struct {
	// Workers is how many goroutines fill or empty chunks at a time, the
	// caller's among them. Zero means three of four processors, but at most
	// twelve.
	Workers int
	// ChunkBytes is the size of a chunk. Zero means 4 MiB.
	ChunkBytes int
	// Chunks is how many chunks there are at most. Zero means four more than
	// there are Workers.
	Chunks int
}

const defaultChunkBytes = 4 << 20

// New makes an engine, which asks the driver for nothing yet. The caller closes
// it before the device.
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
	if options.Chunks == 0 {
		options.Chunks = options.Workers + 4
	}
	return &Engine{
		device: dev,
		crew:   crew{size: options.Workers},
		ring:   newRing(dev, uint64(options.ChunkBytes), options.Chunks),
	}, nil
}

// Upload writes spans, whose bytes do not overlap. It returns when the host's
// memory may be used again; work that is enqueued on the stream afterwards finds
// the bytes. After an error parts of the transfer may still be under way, but
// none that touches the caller's memory.
func (e *Engine) Upload(ctx context.Context, stream *device.Stream, spans []Span) error {
	if err := errors.Join(cancel.Error(ctx), streamwork.RefuseCapture(stream)); err != nil {
		return err
	}
	p := makePlan(spans, e.pinned)
	if err := e.write(ctx, stream, &p.inPlace); err != nil {
		return err
	}
	err := e.enqueueDirect(stream, p.blank, p.direct, func(copy directCopy, handle backend.Stream) error {
		return e.device.Driver().CopyToDeviceAsync(copy.at, copy.host(), copy.bytes(), handle)
	})
	if err == nil && p.staged.bytes > 0 {
		err = e.ring.during(func() error { return e.newFeed(ctx, stream, &p.staged).run() })
	}
	return e.settleDirect(stream, p.direct, err)
}

// Download reads spans, after the work that is on the stream now, and returns
// when the bytes are there. After an error nothing touches the caller's memory
// any more.
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
		err = e.ring.during(func() error { return e.drain(ctx, stream, &p.staged) })
	}
	return e.settleDirect(stream, p.direct, err)
}

// enqueueDirect enqueues what the device does without staging.
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

// settleDirect waits for the direct copies, whatever happened after they were
// enqueued: they use the caller's own memory and cannot be cut short.
func (e *Engine) settleDirect(stream *device.Stream, direct []directCopy, err error) error {
	if len(direct) == 0 {
		return err
	}
	if waiting := quiesce(stream); err == nil {
		err = waiting
	}
	return err
}

// quiesce returns when all work on the stream is done, even if no event can be had to
// mark it. A capture that has begun since does not matter: transfers are not part of it.
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

// Stats are an engine's figures at one moment.
type Stats struct {
	// Limit is the most bytes that may be pinned, Pinned what is, and InUse what
	// transfers under way hold of it.
	Limit, Pinned, InUse uint64
}

// Stats returns the figures of this moment.
func (e *Engine) Stats() Stats { return e.ring.stats() }

// Trim unpins chunks that nothing uses until no more than keep bytes are pinned,
// and returns how many bytes it has unpinned. It waits for no work on the device.
func (e *Engine) Trim(keep uint64) (released uint64, err error) { return e.ring.trim(keep) }

// Warm pins all the chunks that there may be. When the context is done it stops; what
// it has pinned stays.
func (e *Engine) Warm(ctx context.Context) error { return e.ring.warm(ctx) }

// Close unpins everything that no transfer holds. It waits for what the device still
// copies, and not for transfers: one that is under way fails when it needs more staging
// memory, and unpins what it holds when it ends. None is possible afterwards.
func (e *Engine) Close() error { return e.ring.close() }
