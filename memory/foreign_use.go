package memory

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/streamwork"
	"github.com/gpuframe/gpuframe/memory/internal/streamwait"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// RecordForeignUse notes that streams of other libraries may have work on the memory
// that was enqueued by now, on queues that must not be touched any more: a consumer
// that has called a deleter may have destroyed its stream before. Whatever comes next,
// freeing the memory included, is ordered after all the work that is on the device at
// that moment; see streamwork.RecordAll.
//
// It makes no call of the driver, so that it suits deleters.
func (b *Block) RecordForeignUse() error {
	if err := b.Check(); err != nil {
		return err
	}
	b.state.uses.record(b.generation, b.state.allocation.Stream, streamwork.AllStreams(b.manager.device))
	return nil
}

// ReleaseLater is [Block.Release] for deleters and other functions that are called at
// a moment of somebody else's choice, such as in the middle of a graph capture. With
// the last reference the bytes go back to the budget at once, and the memory goes
// back to the resource before gpuframe next allocates on the device, trims or closes
// the manager. It makes no call of the driver and does not wait.
//
// Adopted memory goes back to its owner at once, after a wait for what gpuframe has
// enqueued on it. After [Block.RecordForeignUse], and while a stream is captured that
// the default stream would have to wait for, it goes back later, too. Memory of a
// manager that was closed is freed at once.
func (b *Block) ReleaseLater() error {
	last, err := b.dropReference()
	if err != nil || !last {
		return err
	}
	b.state.finishLater(b.generation)
	return nil
}

// finishLater is finish that leaves to later what may call the driver.
func (s *blockState) finishLater(generation uint64) {
	manager, allocation := s.manager, s.allocation
	if manager.options.TrackAllocations {
		manager.tracker.remove(s)
	}
	if s.listed.Load() {
		s.forget()
	}
	switch {
	case s.origin != Owned:
		// Its figures end with it: the owner does not have it back yet.
		streams, _, pending := s.uses.pending(generation, allocation.Stream)
		if !pending {
			streams = nil
		}
		s.returnForeign(streams)
		return
	case allocation.Bytes > 0:
		further := s.uses.further(generation)
		free := func() {
			if err := manager.resource.Free(allocation, further); err != nil {
				slog.Error("gpuframe: memory could not be freed", "manager", manager.account.name, "pointer", allocation.Pointer.String(), "bytes", allocation.Bytes, "error", err)
			}
		}
		if manager.root().closed.Load() {
			free()
		} else {
			streamwork.Later(manager.device, free)
		}
	}
	s.retire(allocation.Bytes)
}

// returnForeign gives adopted memory back to its owner: now, if nothing of ours is
// pending on it, or later.
func (s *blockState) returnForeign(streams []*device.Stream) {
	manager, release := s.manager, s.release
	give := func() {
		var err error
		for _, stream := range streams {
			err = errors.Join(err, streamwait.All(stream, nil))
		}
		if release != nil {
			err = errors.Join(err, release())
		}
		if err != nil {
			slog.Error("gpuframe: memory could not be given back to its owner", "manager", manager.account.name, "error", err)
		}
	}
	bytes := s.allocation.Bytes
	s.retire(bytes)
	if slices.ContainsFunc(streams, mayBreakCapture) && !manager.root().closed.Load() {
		streamwork.Later(manager.device, give)
		return
	}
	give()
}

// mayBreakCapture reports whether waiting for the stream may break a capture of
// another library.
func mayBreakCapture(stream *device.Stream) bool {
	dev := stream.Device()
	if stream == streamwork.AllStreams(dev) {
		return true
	}
	if stream != dev.DefaultStream() {
		return false
	}
	captured, err := dev.Driver().StreamCapturing(stream.Handle())
	return captured || err != nil
}

// obtain asks the resource for memory, once it has back what was to be freed later.
// A nil ctx stands for one that is never done.
func (m *Manager) obtain(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	if bytes == 0 {
		return resource.Allocation{Stream: stream}, nil
	}
	streamwork.RunLater(m.device)
	if ctx == nil {
		return m.resource.Allocate(bytes, stream)
	}
	return resource.AllocateFrom(ctx, m.resource, bytes, stream)
}
