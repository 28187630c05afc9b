package exchange

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/exchange/internal/pack"
	"github.com/gpuframe/gpuframe/memory"
)

// laneBytes is the number of bytes from other devices from which a second stream receives them,
// while the manager's stream copies what stays on the device. At 390 GB/s they take 43 µs; to make
// and destroy a stream takes tens of µs.
const laneBytes = 16 << 20

// moversTo makes the mover of each destination, of the tables that it gets. The streams of all
// movers are ordered after the pending work on the tables before any of them copies.
//
// Copies from a block read it, and so need not wait for each other. But package memory does not
// tell reads from writes: if each copy were ordered when it is enqueued, those from one block to
// several devices would run in sequence, and so would those of two devices from each other.
func moversTo(ctx context.Context, tables [][]*buffer.Buffer, to []*memory.Manager, options Options) (movers []*mover, err error) {
	defer func() {
		if err != nil {
			for _, m := range movers {
				err = errors.Join(err, m.close())
			}
			movers = nil
		}
	}()
	for j, from := range tables {
		m := newMover(ctx, to[j], options)
		movers = append(movers, m)
		err := m.openLane(from)
		if err == nil {
			err = m.orderAll(from)
		}
		if err != nil {
			return movers, &DestinationError{Device: to[j].Device().Name(), Err: err}
		}
	}
	return movers, nil
}

// openLane makes the mover's second stream if other devices send much.
func (m *mover) openLane(tables []*buffer.Buffer) error {
	var away uint64
	for _, table := range tables {
		if table.Device() == nil || table.Device().Same(m.to.Device()) {
			continue
		}
		for i := range table.NumColumns() {
			var p pack.Plan
			if _, err := p.All(table.Column(i)); err != nil {
				return err
			}
			away += p.Bytes
		}
	}
	if away >= laneBytes {
		var err error
		if m.lane, err = m.to.Device().NewStream(); err != nil {
			return err
		}
	}
	return nil
}

// orderAll orders the mover's streams after the pending work on tables.
func (m *mover) orderAll(tables []*buffer.Buffer) error {
	m.ordered = map[*memory.Block]bool{}
	for _, table := range tables {
		for i := range table.NumColumns() {
			for block := range table.Column(i).Blocks {
				if m.ordered[block] {
					continue
				}
				route, err := m.route(block.Device())
				if err != nil {
					return err
				}
				if route.Means == Pinned {
					continue // the host waits for the rounds through pinned memory
				}
				if err := block.OrderBefore(m.stream(block)); err != nil {
					return err
				}
				m.ordered[block] = true
			}
		}
	}
	return nil
}

// stream returns the stream for copies from a block.
func (m *mover) stream(from *memory.Block) *device.Stream {
	if m.lane == nil || from.Device().Same(m.to.Device()) {
		return m.to.Stream()
	}
	return m.lane
}

// fresh returns new memory for copies on both streams, which write different bytes and do not wait
// for each other. It orders the second stream after the allocation.
func (m *mover) fresh(to memory.Slice[uint8]) (memory.Slice[uint8], error) {
	if m.lane == nil {
		return to, nil
	}
	return to.Unordered(), to.Order(m.lane)
}
