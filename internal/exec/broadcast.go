package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/memory"
)

// broadcast copies all tables of the first device to the devices of a fragment, each of which sends
// them on. All tables are copied before the first one is read; they move to host memory while
// memory is short.
type broadcast struct {
	*stage
	fragment *fragment
	input    buffer.Reader

	mu   sync.Mutex
	done bool
	err  error
	// copies are the tables of each device.
	copies []*held
}

// broadcast returns a reader of the copies on the worker's device.
func (w *worker) broadcast(ctx context.Context, base *stage, n *plan.Exchange) (buffer.Reader, error) {
	f, number := w.fragment, w.broadcasts
	w.broadcasts++
	if number == len(f.broadcasts) {
		input, err := f.opener.open(ctx, n.Input())
		if err != nil {
			return nil, err
		}
		f.broadcasts = append(f.broadcasts, &broadcast{stage: &stage{node: n, settings: f.settings}, fragment: f, input: input})
	}
	return &broadcasted{stage: base, of: f.broadcasts[number]}, nil
}

// run copies all tables, if no other worker has.
func (b *broadcast) run(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return b.err
	}
	b.done = true
	for _, w := range b.fragment.workers {
		copies := b.fragment.holdOn(w)
		copies.node = b.node
		b.copies = append(b.copies, copies)
	}
	for b.err == nil {
		table, err := b.input.Next(ctx)
		if err == errEnd {
			break
		}
		if err == nil {
			var rest pieces
			rest.push(table)
			err = rest.all(ctx, func(piece *buffer.Buffer) error { return b.send(ctx, piece) })
			err = errors.Join(err, rest.release())
		}
		b.err = b.failed(unended(err))
	}
	return b.err
}

// send copies a table to all devices. If memory is short, it copies to none.
func (b *broadcast) send(ctx context.Context, table *buffer.Buffer) error {
	managers := make([]*memory.Manager, len(b.copies))
	for i, copies := range b.copies {
		managers[i] = copies.settings.Manager
	}
	made, err := exchange.Broadcast(ctx, table, managers, exchange.Options{Tag: b.settings.Tag})
	var of *exchange.DestinationError
	if errors.As(err, &of) {
		for _, copies := range b.copies {
			if copies.settings.Manager.Device().Name() == of.Device {
				return copies.failed(err)
			}
		}
	}
	if err != nil {
		return err
	}
	for i, c := range made {
		if err := b.copies[i].movable(ctx, c); err != nil {
			_, err = releasing(nil, begunError{b.copies[i].failed(fmt.Errorf("hold a copy: %w", err))}, made[i+1:]...)
			return err
		}
	}
	return nil
}

// close releases the copies that were not read. No worker runs.
func (b *broadcast) close() error { return errors.Join(releaseAll(b.copies), b.input.Close()) }

// broadcasted reads the copies on one device.
type broadcasted struct {
	*stage
	of *broadcast
}

// Next implements buffer.Reader.
func (b *broadcasted) Next(ctx context.Context) (*buffer.Buffer, error) {
	if err := b.of.run(ctx); err != nil {
		return nil, err
	}
	table, err := b.of.copies[b.worker.number].pop(ctx) // only this worker changes them
	return table, b.failed(err)
}
