package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/memory"
)

// broadcast copies tables to the devices of a fragment: all of the first device, which the devices
// that have them send on, or those of another fragment, which each device sends to all others. All
// tables are copied before the first one is read; they move to host memory while memory is short.
type broadcast struct {
	*stage
	fragment *fragment
	// input has the tables of the first device. Without it the tables are those of below.
	input buffer.Reader
	below *fragment
	// early is set if the work below begins with that below the first broadcast of the fragment: if
	// all tables below are expected to take a small part of the budget together.
	early bool

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
		b := &broadcast{stage: &stage{node: n, settings: f.settings, bounds: f.bounds}, fragment: f}
		var err error
		if n.Kind() == plan.AllGather {
			b.below, err = f.opener.gather(ctx, b.stage, n)
			b.early = n.SizeBelow() >= 0 && uint64(n.SizeBelow()) <= f.settings.Manager.Budget()/roomShare
		} else {
			b.input, err = f.opener.open(ctx, n.Input())
		}
		if err != nil {
			return nil, err
		}
		f.broadcasts = append(f.broadcasts, b)
	}
	return &broadcasted{stage: base, source: f.broadcasts[number]}, nil
}

// run copies all tables, if no other worker has.
func (b *broadcast) run(ctx context.Context) error {
	b.fragment.begin(ctx)
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
	copyAll := b.copyInput
	if b.below != nil {
		copyAll = b.allGather
	}
	b.err = b.failed(unended(copyAll(ctx)))
	return b.err
}

// copyInput copies the tables of the first device.
func (b *broadcast) copyInput(ctx context.Context) error {
	for {
		table, err := b.input.Next(ctx)
		if err == errEnd {
			return nil
		}
		if err == nil {
			err = b.sendPieces(ctx, table)
		}
		if err != nil {
			return err
		}
	}
}

// begin starts the work below the broadcasts of a fragment, if it has not started. The joins of a
// fragment read their right sides one after the other. The work below those that do not depend on
// each other goes on at the same time: if the tables are small, most of it is waits and calls of the
// driver.
func (f *fragment) begin(ctx context.Context) {
	f.beginning.Do(func() {
		for _, b := range f.broadcasts {
			if b.early {
				b.below.start(ctx)
			}
		}
	})
}

// sendPieces copies a table, which it takes over, to all devices, in pieces if memory is short.
func (b *broadcast) sendPieces(ctx context.Context, table *buffer.Buffer) error {
	var rest pieces
	rest.push(table)
	err := rest.all(ctx, func(piece *buffer.Buffer) error { return b.send(ctx, piece) })
	return errors.Join(err, rest.Release())
}

// send copies a table to all devices. If memory is short, it copies to none.
func (b *broadcast) send(ctx context.Context, table *buffer.Buffer) error {
	copies, err := exchange.Broadcast(ctx, table, b.managers(), exchange.Options{Tag: b.settings.Tag})
	if err != nil {
		return b.failedTo(err)
	}
	return b.hold(ctx, copies)
}

// managers returns those of the devices.
func (b *broadcast) managers() []*memory.Manager {
	managers := make([]*memory.Manager, len(b.copies))
	for i, copies := range b.copies {
		managers[i] = copies.settings.Manager
	}
	return managers
}

// failedTo names in an error the device that got no copy, if it is known.
func (b *broadcast) failedTo(err error) error {
	var destination *exchange.DestinationError
	if errors.As(err, &destination) {
		for _, copies := range b.copies {
			if copies.settings.Manager.Device().Name() == destination.Device {
				return copies.failed(err)
			}
		}
	}
	return err
}

// hold takes over a copy for each device.
func (b *broadcast) hold(ctx context.Context, copies []*buffer.Buffer) error {
	for i, c := range copies {
		if err := b.copies[i].movable(ctx, c); err != nil {
			return errors.Join(begunError{b.copies[i].failed(fmt.Errorf("hold a copy: %w", err))}, release.All(copies[i+1:]))
		}
	}
	return nil
}

// close releases the copies that were not read. No worker runs.
func (b *broadcast) close() error {
	err := release.All(b.copies)
	if b.below != nil {
		return errors.Join(err, b.below.Close())
	}
	return errors.Join(err, b.input.Close())
}

// broadcasted reads the copies on one device.
type broadcasted struct {
	*stage
	source *broadcast
}

// Next implements buffer.Reader.
func (b *broadcasted) Next(ctx context.Context) (*buffer.Buffer, error) {
	if err := b.source.run(ctx); err != nil {
		return nil, err
	}
	table, err := b.source.copies[b.worker.number].pop(ctx) // only this worker changes them
	return table, b.failed(err)
}
