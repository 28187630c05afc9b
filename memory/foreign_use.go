package memory

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
	"github.com/gpuframe/gpuframe/memory/internal/streamwait"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// RecordForeignUse records that streams of other libraries may have work on the memory,
// on queues that gpuframe cannot access: a consumer that called a deleter may already
// have destroyed its stream. Later work, and freeing the memory, is ordered after all
// the work that is on the device at that time; see streamwork.RecordAll.
//
// RecordForeignUse makes no driver call and can therefore be called in deleters.
func (b *Block) RecordForeignUse() error {
	if err := b.Check(); err != nil {
		return err
	}
	b.state.uses.record(b.generation, b.state.allocation.Stream, streamwork.AllStreams(b.manager.device), false)
	return nil
}

// ReleaseLater is [Block.Release] for deleters and other callbacks that may run at any
// time, such as during a graph capture. It makes no driver call and does not wait,
// except for adopted memory and for a manager that is closed. After the last reference
// the bytes return to the budget immediately. The memory returns to the resource before
// gpuframe next allocates on the device, trims or closes the manager.
//
// Adopted memory returns to its owner immediately, after a wait for the work that
// gpuframe has enqueued on it. It returns later if there is no such work and the contents
// are still on their way, if [Block.RecordForeignUse] was called,
// or if that work is on the default stream while a stream is captured that the default
// stream would have to wait for. Memory of a manager that is closed is freed
// immediately.
func (b *Block) ReleaseLater() error {
	last, err := b.dropReference()
	if err != nil || !last {
		return err
	}
	b.state.finishLater(b.generation)
	return nil
}

// finishLater is like finish but defers the actions that may call the driver.
func (s *blockState) finishLater(generation uint64) {
	manager, allocation := s.manager, s.allocation
	s.uses.end(generation)
	if manager.options.TrackAllocations {
		manager.tracker.remove(s)
	}
	if s.listed.Load() {
		s.forget()
	}
	s.endSample(false)
	switch {
	case s.origin != Owned:
		if stream := s.unread(generation); stream != nil {
			bytes := s.allocation.Bytes
			if err := s.releaseUnread(stream); err != nil {
				slog.Error("gpuframe: memory could not be given back to its owner", "manager", manager.account.name, "error", err)
			}
			s.retire(bytes, generation)
			return
		}
		// returnForeign subtracts the memory from the statistics now, even if its owner
		// gets it back later.
		streams, _, pending := s.uses.pending(generation, allocation.Stream)
		if !pending {
			streams = nil
		}
		s.returnForeign(streams, generation)
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
	s.retire(allocation.Bytes, generation)
}

// returnForeign returns adopted memory to its owner, or defers that if waiting for one
// of the streams may break a capture.
func (s *blockState) returnForeign(streams []*device.Stream, generation uint64) {
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
	s.retire(bytes, generation)
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

// obtain allocates memory from the resource, after it has run the frees that were
// deferred. A nil ctx means one that is never done.
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
