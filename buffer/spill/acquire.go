package spill

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// Acquire returns the table's buffer. The memory stays in place until the buffer, and
// everything that was retained of it, is released. If the table is on the host,
// Acquire restores it first, which may spill other tables. Work on any stream finds
// the data. The caller releases the buffer, which may outlive the Table.
//
// # Errors
//
// If the device has no room, the error is that of memory.Manager.Allocate. The table
// then stays on the host and can be acquired later. After Release the error wraps
// memory.ErrReleased.
func (t *Table) Acquire(ctx context.Context) (*buffer.Buffer, error) {
	table, err := t.acquire(ctx, true)
	if err == nil {
		err = t.arrived(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("spill: acquire %v: %w", t, err), table.Release())
	}
	return table, nil
}

// AcquireOn is [Table.Acquire] without the wait for the copy to the device: work that
// is enqueued on the stream afterwards finds the data. For other streams use
// memory.Block.OrderBefore.
func (t *Table) AcquireOn(ctx context.Context, stream *device.Stream) (*buffer.Buffer, error) {
	if stream == nil || !stream.Device().Same(t.spiller.manager.Device()) {
		return nil, fmt.Errorf("spill: acquire %v: the stream is nil or of another device, expected one of %s: %w", t, t.spiller.manager.Device(), device.ErrInvalidValue)
	}
	table, err := t.acquire(ctx, false)
	if err == nil {
		err = t.orderBefore(stream)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("spill: acquire %v: %w", t, err), table.Release())
	}
	return table, nil
}

// Use calls f with the acquired buffer, and releases it afterwards. If f keeps a part
// of the buffer, it must retain it.
func (t *Table) Use(ctx context.Context, f func(*buffer.Buffer) error) (err error) {
	table, err := t.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Release()) }()
	return f(table)
}

// Record copies the table to an Arrow record. If the table is on the host, Record
// reads it there and takes no device memory. A table in a file takes host memory
// meanwhile. The caller releases the record.
func (t *Table) Record(ctx context.Context) (arrow.Record, error) {
	table, err := t.inPlace(ctx)
	if err != nil {
		return nil, fmt.Errorf("spill: record of %v: %w", t, err)
	}
	record, err := table.Record(ctx)
	if err = errors.Join(err, table.Release()); err != nil {
		if record != nil {
			record.Release()
		}
		return nil, err
	}
	return record, nil
}

// acquire returns the buffer on the device. Unless wait is set, the copy that
// restores the table may still be pending.
func (t *Table) acquire(ctx context.Context, wait bool) (*buffer.Buffer, error) {
	s := t.spiller
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := t.awaitMove(ctx); err != nil {
			return nil, err
		}
		if !t.spilled {
			return t.hold(true)
		}
		s.begin(t, false)
		s.mu.Unlock()
		err := s.restore(ctx, t, wait)
		_, ending := s.end(t, 0)
		s.mu.Lock()
		if err = errors.Join(err, ending); err != nil {
			return nil, err
		}
	}
}

// inPlace returns the buffer, on the device or on the host.
func (t *Table) inPlace(ctx context.Context) (*buffer.Buffer, error) {
	t.spiller.mu.Lock()
	defer t.spiller.mu.Unlock()
	if err := t.awaitMove(ctx); err != nil {
		return nil, err
	}
	if t.form != nil {
		return t.inMemory(ctx)
	}
	return t.hold(!t.spilled)
}

// inMemory makes a buffer of a table in a file or in packed form, in host memory beyond Options.HostBudget. The
// lock is held, except while the table is read, which counts as a move.
func (t *Table) inMemory(ctx context.Context) (*buffer.Buffer, error) {
	s := t.spiller
	s.begin(t, false)
	s.mu.Unlock()
	var blocks []*memory.Block
	var err error
	if t.region != nil {
		blocks, err = s.load(ctx, t)
	} else {
		blocks, err = s.unpackOnHost(ctx, t)
	}
	var table *buffer.Buffer
	if err == nil {
		table, err = t.skeleton.Buffer(blocks)
		err = errors.Join(err, release.All(blocks))
	}
	_, ending := s.end(t, 0)
	s.mu.Lock()
	if err = errors.Join(err, ending); err != nil {
		return nil, errors.Join(err, table.Release())
	}
	return table, nil
}

// awaitMove waits until no move is in progress. The lock is held, except during the
// wait.
func (t *Table) awaitMove(ctx context.Context) error {
	for !t.released {
		if t.move == nil {
			return nil
		}
		done := t.move.done
		t.waiting++
		t.spiller.mu.Unlock()
		var err error
		select {
		case <-done:
		case <-ctx.Done():
			err = cancel.Error(ctx)
		}
		t.spiller.mu.Lock()
		t.waiting--
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("the table: %w", memory.ErrReleased)
}

// hold makes a buffer of the blocks. The lock is held, except while the buffer is
// made; until the buffer has its own references, hold keeps the blocks in place.
func (t *Table) hold(onDevice bool) (*buffer.Buffer, error) {
	if onDevice {
		t.touch()
	}
	blocks := t.blocks
	for i, block := range blocks {
		if err := block.Retain(); err != nil {
			return nil, errors.Join(err, release.All(blocks[:i]))
		}
	}
	t.spiller.mu.Unlock()
	table, err := t.skeleton.Buffer(blocks)
	err = errors.Join(err, release.All(blocks))
	t.spiller.mu.Lock()
	if err != nil {
		return nil, errors.Join(err, table.Release())
	}
	if onDevice {
		t.forgetReleased()
		t.acquired = append(t.acquired, table)
	}
	return table, nil
}

// arrived waits for the copy that restored the table. The caller holds the table, so
// it does not move meanwhile.
func (t *Table) arrived(ctx context.Context) error {
	if !t.isArriving() {
		return nil
	}
	if err := t.spiller.in.Synchronize(ctx); err != nil {
		return err
	}
	t.spiller.mu.Lock()
	defer t.spiller.mu.Unlock()
	t.arriving = false
	return nil
}

// orderBefore makes the stream wait for the copy that restored the table.
func (t *Table) orderBefore(stream *device.Stream) error {
	if !t.isArriving() {
		return nil
	}
	return stream.WaitStream(t.spiller.in)
}

func (t *Table) isArriving() bool {
	t.spiller.mu.Lock()
	defer t.spiller.mu.Unlock()
	return t.arriving
}
