package memory

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

// Settle declares that the contents are final: work from now on only reads them, and calls
// [Block.OrderRead] and [Block.RecordRead]. Then streams that read do not wait for each other,
// but for the work that was recorded before. A call of [Block.RecordUse] ends that, and work that
// is ordered by [Block.OrderBefore] waits for all work, so that memory can be written again.
// Queries settle the tables in memory that they read.
//
// Settle does nothing for memory of other owners, which may arrive later and be written by them,
// and if the work before cannot be marked: on a stream that is captured or closed.
//
// # Errors
//
// [ErrReleased].
func (b *Block) Settle() error {
	if err := b.Check(); err != nil {
		return err
	}
	if b.state.origin == Owned {
		b.state.uses.settle(b.generation, b.state.allocation.Stream)
	}
	return nil
}

// OrderRead is [Block.OrderBefore] for work that only reads the memory. If the memory is settled,
// the stream waits only for the work before that.
func (b *Block) OrderRead(stream *device.Stream) error {
	if err := b.Check(); err != nil {
		return err
	}
	if stream == nil || stream.Closed() {
		return b.OrderBefore(stream) // which refuses it
	}
	if settled, err := b.state.uses.orderRead(b.generation, stream); settled {
		return err
	}
	return b.OrderBefore(stream)
}

// RecordRead is [Block.RecordUse] for work that only reads the memory.
func (b *Block) RecordRead(stream *device.Stream) error { return b.recordUse(stream, true) }

// settle is [Block.Settle].
func (u *useList) settle(generation uint64, own *device.Stream) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begin(generation) || u.settled {
		return
	}
	streams := u.streams
	if u.own > max(u.completed, u.ownCompleted) {
		streams = append(streams[:len(streams):len(streams)], streamwork.Past(own))
	}
	if u.completed == u.recorded {
		streams = nil
	}
	var written []*device.Event
	for _, stream := range streams {
		if done, err := stream.Done(); done && err == nil {
			continue
		}
		var event *device.Event
		if !stream.Capturing() {
			event, _ = stream.Record()
		}
		if event == nil {
			_ = closeEvents(written)
			return
		}
		written = append(written, event)
	}
	u.settled, u.written = true, written
	u.shared.Store(generation)
}

// orderRead makes a stream wait for the work before the memory was settled. It reports false if
// it is not settled.
func (u *useList) orderRead(generation uint64, stream *device.Stream) (settled bool, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begin(generation) || !u.settled || stream.Capturing() {
		return false, nil
	}
	for len(u.written) > 0 {
		last := u.written[len(u.written)-1]
		if done, err := last.Done(); !done || err != nil {
			break
		}
		u.written = u.written[:len(u.written)-1]
		if err := last.Close(); err != nil {
			return true, err
		}
	}
	for _, event := range u.written {
		if err := stream.Wait(event); err != nil {
			return true, err
		}
	}
	return true, nil
}

// end forgets the events of memory that is freed.
func (u *useList) end(generation uint64) {
	if u.shared.Load() != generation {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.generation == generation {
		u.unsettle()
	}
}

// unsettle forgets that the contents are final. The caller holds mu.
func (u *useList) unsettle() {
	if u.settled {
		_ = closeEvents(u.written) // the driver keeps an event until it is reached
		u.settled, u.written = false, nil
	}
}

func closeEvents(events []*device.Event) error {
	var failures []error
	for _, event := range events {
		failures = append(failures, event.Close())
	}
	return errors.Join(failures...)
}
