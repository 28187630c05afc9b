package world

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
)

// AllToAll moves part i to rank i. The result has the rows that the ranks have for this one, in
// the order of the ranks. All parts of all ranks have columns of the same types; names and
// metadata of the result are those of this rank's parts. A column of the result is nullable if it is
// nullable in any part. The caller keeps the parts, and releases the result.
//
// # Waiting
//
// AllToAll waits for the other ranks and for all bytes.
//
// # Errors
//
// After any error the World is down on all ranks.
func (w *World) AllToAll(ctx context.Context, parts []*buffer.Buffer) (*buffer.Buffer, error) {
	if len(parts) != w.Size() {
		return nil, w.refuse("all to all", fmt.Errorf("%d parts are given, expected one for each of the %d ranks: %w", len(parts), w.Size(), device.ErrInvalidValue))
	}
	for rank, part := range parts {
		if part == nil {
			return nil, w.refuse("all to all", fmt.Errorf("the part for rank %d is nil, expected a table, which may be empty: %w", rank, device.ErrInvalidValue))
		}
	}
	return w.run(ctx, operation{name: "all to all", out: parts, from: everyRank(w.Size())})
}

// Broadcast returns the table of rank root on all ranks. The other ranks pass nil. On the root
// the result shares the memory of the table if it is on the manager's device. The caller keeps the
// table, and releases the result.
//
// # Waiting
//
// Broadcast waits like [World.AllToAll].
//
// # Errors
//
// After any error the World is down on all ranks.
func (w *World) Broadcast(ctx context.Context, table *buffer.Buffer, root int) (*buffer.Buffer, error) {
	o := operation{name: "broadcast", root: root, out: make([]*buffer.Buffer, w.Size()), from: make([]bool, w.Size())}
	if err := w.checkRoot(o.name, root, table, w.Rank() == root); err != nil {
		return nil, err
	}
	if w.Rank() == root {
		for i := range o.out {
			o.out[i] = table
		}
	}
	o.from[root] = true
	return w.run(ctx, o)
}

// Gather returns on rank root the rows of the tables of all ranks, in the order of the ranks.
// Other ranks get nil. All tables have columns of the same types. The caller keeps the
// table, and releases the result.
//
// # Waiting
//
// Gather waits like [World.AllToAll].
//
// # Errors
//
// After any error the World is down on all ranks.
func (w *World) Gather(ctx context.Context, table *buffer.Buffer, root int) (*buffer.Buffer, error) {
	o := operation{name: "gather", root: root, out: make([]*buffer.Buffer, w.Size()), from: make([]bool, w.Size())}
	if err := w.checkRoot(o.name, root, table, true); err != nil {
		return nil, err
	}
	o.out[root] = table
	if w.Rank() == root {
		o.from = everyRank(w.Size())
	}
	return w.run(ctx, o)
}

// Copy returns on rank to the table of rank from. All ranks call it; those other than from pass
// nil, and those other than to get nil. The caller keeps the table, and releases the result.
//
// # Waiting
//
// Copy waits like [World.AllToAll].
//
// # Errors
//
// After any error the World is down on all ranks.
func (w *World) Copy(ctx context.Context, table *buffer.Buffer, from, to int) (*buffer.Buffer, error) {
	o := operation{name: "copy", root: from, target: to, out: make([]*buffer.Buffer, w.Size()), from: make([]bool, w.Size())}
	if err := w.checkRoot(o.name, from, table, w.Rank() == from); err != nil {
		return nil, err
	}
	if err := w.checkRoot(o.name, to, table, w.Rank() == from); err != nil {
		return nil, err
	}
	if w.Rank() == from {
		o.out[to] = table
	}
	o.from[from] = w.Rank() == to
	return w.run(ctx, o)
}

func everyRank(size int) []bool {
	all := make([]bool, size)
	for i := range all {
		all[i] = true
	}
	return all
}

// checkRoot checks a rank that a caller names and whether it passes a table.
func (w *World) checkRoot(name string, rank int, table *buffer.Buffer, needed bool) error {
	if rank < 0 || rank >= w.Size() {
		return w.refuse(name, fmt.Errorf("rank %d, expected 0 to %d: %w", rank, w.Size()-1, device.ErrInvalidValue))
	}
	if (table != nil) != needed {
		return w.refuse(name, fmt.Errorf("rank %d passes a table: %v, expected %v: %w", w.Rank(), table != nil, needed, device.ErrInvalidValue))
	}
	return nil
}

// refuse takes the World down because of a caller's error: the other ranks wait for this one.
func (w *World) refuse(name string, err error) error {
	return fmt.Errorf("exchange: world: %s: %w", name, w.group.Fail(err))
}
